//! What a browser gets: all of it is inside the program.

use maud::{DOCTYPE, html};

/// A file that the page asks for.
pub(crate) struct Asset {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) content: &'static str,
}

/// The page of lists, studies and runs: a script fills it in.
pub(crate) const PAGE: &str = include_str!("page/index.html");

/// Where the token is asked for, also after a wrong one.
pub(crate) fn login(wrong: bool) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "taskscout: log in" }
                link rel="icon" href="/assets/icon.svg" type="image/svg+xml";
                link rel="stylesheet" href="/assets/page.css";
            }
            body {
                main.login #main {
                    h1 { "taskscout" }
                    @if wrong {
                        p.trouble role="alert" {
                            "That was not the token. Look for typing mistakes, or ask whoever started the server."
                        }
                    }
                    form method="post" action="/login" {
                        label for="token" { "Token of this server" }
                        input #token name="token" type="password" autocomplete="current-password" required autofocus;
                        button.primary type="submit" { "Log in" }
                    }
                    p.quiet { "Whoever started the server has it. It stays in this browser until the server ends." }
                }
            }
        }
    }
    .into_string()
}

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
