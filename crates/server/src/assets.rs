//! What a browser gets: all of it is inside the program.

/// A file that the page asks for.
pub(crate) struct Asset {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) content: &'static str,
}

/// The page of lists, studies and runs: a script fills it in.
pub(crate) const PAGE: &str = include_str!("page/index.html");
/// Where the token is asked for.
pub(crate) const LOGIN: &str = include_str!("page/login.html");
/// The same after a wrong one.
pub(crate) const WRONG_LOGIN: &str = include_str!("page/wrong-login.html");

macro_rules! script {
    ($name:literal) => {
        Asset {
            name: $name,
            kind: "text/javascript; charset=utf-8",
            content: include_str!(concat!("page/", $name)),
        }
    };
}

/// Everything that the page asks for.
pub(crate) const ASSETS: [Asset; 11] = [
    Asset {
        name: "page.css",
        kind: "text/css; charset=utf-8",
        content: include_str!("page/page.css"),
    },
    Asset {
        name: "icon.svg",
        kind: "image/svg+xml",
        content: include_str!("page/icon.svg"),
    },
    script!("app.js"),
    script!("dom.js"),
    script!("api.js"),
    script!("chart.js"),
    script!("study.js"),
    script!("figures.js"),
    script!("actions.js"),
    script!("whatif.js"),
    script!("other.js"),
];
