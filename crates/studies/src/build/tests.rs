use taskscout::study::TargetRows;

use super::*;

fn built(text: &str) -> Result<(Definition, Study)> {
    let settings: Settings = toml::from_str(text).unwrap();
    settings.build(&Registry::new())
}

const ROWS: &str =
    "[rows]\ninputs = [\"vx\", { name = \"pwm\", scale = 1000 }]\noutputs = [\"force\"]\n";
const WIND: &str =
    "[tasks]\nparameters = [{ name = \"wind\", low = 0, high = 12, unit = \"m/s\" }]\n";

#[test]
fn a_short_file_is_enough() {
    let (definition, study) = built(&format!("{WIND}{ROWS}[[targets]]\nname = \"t\"\n")).unwrap();
    assert_eq!(definition.parameters[0].label(), "wind (m/s)");
    assert_eq!(definition.inputs[1].scale, Some(1000.0));
    let config = study.config();
    // Squares and products of two inputs, and a constant.
    assert_eq!(config.input_features.dim(), 6);
    assert_eq!(config.task_features.dim(), 2);
    assert_eq!(config.seed, 0);
}

#[test]
fn every_setting_reaches_the_study() {
    let text = format!(
        "strategy = \"passive\"\ntrainer = \"pooled\"\nk = 2\nseed = 9\n{WIND}features = \"quadratic\"\n{ROWS}features = \"affine\"\n\
         [[targets]]\nname = \"t\"\nparameters = [3.0]\nweight = 2.0\n\
         [collection]\nunit = \"min\"\nsample_cost = 2\nswitch_cost = 5\nsmallest_batch = 4\nmax_tasks = 3\ntarget_sample_cost = 7\n"
    );
    let (definition, study) = built(&text).unwrap();
    let config = study.config();
    assert_eq!((config.k, config.seed), (Some(2), 9));
    assert_eq!(
        (config.input_features.dim(), config.task_features.dim()),
        (3, 3)
    );
    assert_eq!(config.collection.max_tasks, Some(3));
    assert!((config.collection.switch_cost - 5.0).abs() < 1e-12);
    assert_eq!(definition.budget_unit(), "min");
    assert_eq!(definition.target_rows, Some(TargetRows::Each(7.0)));
    assert!(config.targets[0].is_known());
}

/// Takes nothing from anywhere.
#[derive(Debug)]
struct Idle;

impl Strategy for Idle {
    fn plan(
        &self,
        _context: &taskscout::strategy::PlanContext<'_>,
    ) -> taskscout::Result<taskscout::strategy::Decision> {
        Ok(taskscout::strategy::Decision::default())
    }
}

#[test]
fn registered_parts_are_found_by_their_names() {
    let mut registry = Registry::new();
    registry
        .strategy_with("idle", |_| Ok(std::sync::Arc::new(Idle)))
        .unwrap();
    let registry = parts::with_networks(&registry).unwrap();
    let text = format!(
        "strategy = \"idle\"\ntrainer = \"neural\"\ntrainer_settings = {{ network = {{ hidden = [5] }} }}\n\
         [tasks]\nspace = {{ kind = \"ball\", dim = 2, radius = 1.0 }}\ncolumns = [\"east\", \"north\"]\n{ROWS}"
    );
    let settings: Settings = toml::from_str(&text).unwrap();
    let (definition, study) = settings.build(&registry).unwrap();
    assert_eq!(study.config().own_strategy.as_ref().unwrap().name, "idle");
    let Oracle::External(neural) = &study.config().oracle else {
        panic!("{:?}", study.config().oracle);
    };
    assert_eq!(neural.settings["network"]["hidden"][0], 5);
    assert_eq!(definition.parameters[1].label(), "north");
    let refused = |text: &str| {
        let settings: Settings = toml::from_str(text).unwrap();
        settings.build(&registry).unwrap_err().to_string()
    };
    assert!(refused(&text.replace(", \"north\"", "")).contains("has 1 names"));
    assert!(refused(&text.replace("\"neural\"", "\"exact\"")).contains("takes none"));
}

#[test]
fn settings_that_do_not_fit_are_refused() {
    let refusal = |text: &str| built(text).unwrap_err().to_string();
    assert!(refusal(ROWS).contains("needs one of"));
    assert!(refusal(WIND).contains("no input"));
    assert!(refusal(&format!("strategy = \"wild\"\n{WIND}{ROWS}")).contains("aware"));
    assert!(refusal(&format!("trainer = \"wild\"\n{WIND}{ROWS}")).contains("pooled"));
    let two = format!("{WIND}{ROWS}[[targets]]\nname = \"t\"\nparameters = [1.0, 2.0]\n");
    assert!(refusal(&two).contains("2 parameters, but tasks have 1"));
    let turned = WIND.replace("low = 0", "low = 13");
    assert!(refusal(&format!("{turned}{ROWS}")).contains("the smaller one first"));
    for (rows, part) in [
        ("target_rows = false\ntarget_sample_cost = 7", "leave out"),
        ("target_sample_cost = -1", "above 0"),
    ] {
        let text = format!("{WIND}{ROWS}[collection]\n{rows}\n");
        assert!(refusal(&text).contains(part), "{rows}");
    }
    let unknown: std::result::Result<Settings, _> = toml::from_str("colour = 1");
    assert!(unknown.is_err());
}

#[test]
fn a_forbidden_task_has_to_be_one_of_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("winds.csv");
    std::fs::write(&path, "name,wind\ncalm,1\nstorm,20\n").unwrap();
    let forbidding = |task: &str| {
        let table = toml::Value::from(path.display().to_string());
        built(&format!(
            "strategy = \"passive\"\n{ROWS}[tasks]\ncandidates = {table}\n[collection]\nforbidden = [\"{task}\"]\n"
        ))
    };
    assert_eq!(
        forbidding("storm")
            .unwrap()
            .1
            .config()
            .collection
            .forbidden
            .len(),
        1
    );
    let refused = forbidding("strom").unwrap_err().to_string();
    assert!(refused.contains("did you mean `storm`?"), "{refused}");
    // Any point of a range may be forbidden: it has no list of names.
    let range = format!("strategy = \"passive\"\n{WIND}{ROWS}[collection]\nforbidden = [\"x\"]\n");
    assert!(built(&range).is_ok());
}

#[test]
fn a_distribution_is_its_members() {
    let season =
        "[[targets]]\nname = \"season\"\nmembers = [[2.0], [10.0]]\nprobabilities = [0.25, 0.75]\n";
    let (_, study) = built(&format!("serve = \"worst\"\n{WIND}{ROWS}{season}")).unwrap();
    let config = study.config();
    assert_eq!(config.strategy.serve, taskscout::strategy::Serve::Worst);
    // Centred and scaled, the members are (2 − 6)/6 and (10 − 6)/6, so their mean is 1/3.
    let taskscout::target::TargetParameters::Distribution { second_moment } =
        &config.targets[0].kind
    else {
        panic!("{:?}", config.targets);
    };
    assert!(
        (second_moment[0][1] - 1.0 / 3.0).abs() < 1e-12
            && (second_moment[1][1] - 4.0 / 9.0).abs() < 1e-12
    );
    let none = season.replace("[[2.0], [10.0]]", "[]");
    let refused = toml::from_str::<Settings>(&format!("{WIND}{ROWS}{none}")).unwrap_err();
    assert!(
        refused.to_string().contains("`members` is empty"),
        "{refused}"
    );
    let none = season.replace("members = [[2.0], [10.0]]\n", "");
    let refused = built(&format!("{WIND}{ROWS}{none}")).unwrap_err();
    assert!(refused.to_string().contains("but no members"), "{refused}");
    let odd = season.replace("0.75", "0.5");
    let refused = built(&format!("{WIND}{ROWS}{odd}"))
        .unwrap_err()
        .to_string();
    assert!(refused.contains("a sum of 0.75"), "{refused}");
}
