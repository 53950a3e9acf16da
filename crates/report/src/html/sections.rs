//! Parts of a page with headings, and the list of them.

use maud::{Markup, html};

use super::parts::{Level, heading};

/// Parts in their order.
#[derive(Default)]
pub(super) struct Sections {
    parts: Vec<(String, String, Markup)>,
}

impl Sections {
    /// Adds a part, unless it is empty.
    pub(super) fn add(&mut self, id: String, title: &str, body: Markup) {
        if !body.0.is_empty() {
            self.parts.push((id, title.to_owned(), body));
        }
    }

    /// The way to the parts; `about` tells this list from others on the page.
    pub(super) fn contents(&self, about: &str) -> Markup {
        html! {
            nav.contents aria-label={ "Contents" (about) } {
                @for (id, title, _) in &self.parts { a href={ "#" (id) } { (title) } " " }
                a href="#words" { "What the words mean" }
            }
            "\n"
        }
    }

    /// The parts, each under its heading.
    pub(super) fn body(self, level: Level) -> Markup {
        html! {
            @for (id, title, body) in self.parts {
                (heading(level, &title, &id))
                (body)
            }
        }
    }
}
