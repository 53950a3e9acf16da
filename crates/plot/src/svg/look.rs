//! How shapes are painted: by classes on a page, whose style they share, and by colours in a file of its own.

use super::Theme;
use super::palette::{Paint, Style};

/// The style that figures of [`Theme::Page`] and [`Theme::Phone`] need once on their page.
///
/// `f` is a fill and `s` a stroke, in the colour of text (`i`), of what is less important (`m`), of the grid (`g`), of the
/// page (`s`) or of a series (`0` to `7`); `n` has no fill; `k` is the edge of a point; `c`, `e` and `b` are texts in the
/// middle, at the end and in bold.
pub const PAGE_STYLE: &str = "\
.plot{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',sans-serif}\
.plot polyline{stroke-linejoin:round}\
.plot text{fill:var(--ts-ink,#1c2126);stroke:var(--ts-surface,#fff);stroke-width:4px;stroke-linejoin:round;paint-order:stroke}\
.plot .c{text-anchor:middle}.plot .e{text-anchor:end}.plot .b{font-weight:600}\
.plot .n{fill:none}.plot .k{stroke:var(--ts-surface,#fff);stroke-width:1.2px}\
.plot .fi{fill:var(--ts-ink,#1c2126)}.plot .si{stroke:var(--ts-ink,#1c2126)}\
.plot .fm{fill:var(--ts-muted,#59636e)}.plot .sm{stroke:var(--ts-muted,#59636e)}\
.plot .fg{fill:var(--ts-grid,#dfe3e8)}.plot .sg{stroke:var(--ts-grid,#dfe3e8)}\
.plot .fs{fill:var(--ts-surface,#fff)}.plot .ss{stroke:var(--ts-surface,#fff)}\
.plot .f0{fill:var(--ts-c0,#4d4d4d)}.plot .s0{stroke:var(--ts-c0,#4d4d4d)}\
.plot .f1{fill:var(--ts-c1,#0072b2)}.plot .s1{stroke:var(--ts-c1,#0072b2)}\
.plot .f2{fill:var(--ts-c2,#d55e00)}.plot .s2{stroke:var(--ts-c2,#d55e00)}\
.plot .f3{fill:var(--ts-c3,#009e73)}.plot .s3{stroke:var(--ts-c3,#009e73)}\
.plot .f4{fill:var(--ts-c4,#cc79a7)}.plot .s4{stroke:var(--ts-c4,#cc79a7)}\
.plot .f5{fill:var(--ts-c5,#e69f00)}.plot .s5{stroke:var(--ts-c5,#e69f00)}\
.plot .f6{fill:var(--ts-c6,#56b4e9)}.plot .s6{stroke:var(--ts-c6,#56b4e9)}\
.plot .f7{fill:var(--ts-c7,#6a3d9a)}.plot .s7{stroke:var(--ts-c7,#6a3d9a)}";

/// Fill and stroke of a shape as attributes; what is not given is not painted.
pub(super) fn look(theme: Theme, fill: Option<Paint>, stroke: Option<Paint>) -> String {
    if theme == Theme::Standalone {
        let colour = |paint: Option<Paint>| paint.map(|paint| paint.attribute(theme));
        let fill = colour(fill).unwrap_or_else(|| "none".to_owned());
        let stroke = colour(stroke).map_or(String::new(), |paint| format!(" stroke=\"{paint}\""));
        return format!("fill=\"{fill}\"{stroke}");
    }
    let fill = fill.map_or_else(|| "n".to_owned(), |paint| format!("f{}", paint.letter()));
    let stroke = stroke.map_or(String::new(), |paint| format!(" s{}", paint.letter()));
    format!("class=\"{fill}{stroke}\"")
}

/// The look of a point, given whether its shape has an inside.
pub(super) fn point(theme: Theme, style: Style, closed: bool) -> String {
    let colour = Paint::Series(style.colour);
    let (fill, edge, width) = match (closed, style.hollow) {
        (false, _) => (None, colour, 2.0),
        (true, true) => (Some(Paint::Surface), colour, 1.8),
        (true, false) if theme != Theme::Standalone => {
            return format!("class=\"f{} k\"", colour.letter());
        }
        (true, false) => (Some(colour), Paint::Surface, 1.2),
    };
    format!("{} stroke-width=\"{width}\"", look(theme, fill, Some(edge)))
}

/// A place in pixels, no longer than it must be.
pub(super) fn place(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_colour_has_its_classes() {
        let series = (0..8).map(Paint::Series);
        for paint in [Paint::Ink, Paint::Muted, Paint::Grid, Paint::Surface]
            .into_iter()
            .chain(series)
        {
            let letter = paint.letter();
            let value = paint.attribute(Theme::Page);
            for (class, what) in [('f', "fill"), ('s', "stroke")] {
                let rule = format!(".plot .{class}{letter}{{{what}:{value}}}");
                let rule = rule.replace(", ", ",").replace("#ffffff", "#fff");
                assert!(PAGE_STYLE.contains(&rule), "{rule}");
            }
        }
    }

    #[test]
    fn places_are_short() {
        let said = [70.0, -0.04, 0.25, -3.0, 12.96].map(place);
        assert_eq!(said, ["70", "0", "0.2", "-3", "13"]);
    }
}
