//! The examples run.

#[path = "../../examples/campaign.rs"]
mod campaign;
#[path = "../../examples/logs.rs"]
mod logs;
#[path = "../../examples/own_strategy.rs"]
mod own_strategy;
#[path = "../../examples/own_trainer.rs"]
mod own_trainer;
#[path = "../../examples/simulator.rs"]
mod simulator;

#[test]
fn a_simulator() {
    simulator::main().unwrap();
}

#[test]
fn a_folder_of_logs() {
    logs::main().unwrap();
}

#[test]
fn a_campaign_with_costs_and_failures() {
    campaign::main().unwrap();
}

#[test]
fn a_strategy_of_ones_own() {
    own_strategy::main().unwrap();
}

#[test]
fn a_trainer_of_ones_own() {
    own_trainer::main().unwrap();
}
