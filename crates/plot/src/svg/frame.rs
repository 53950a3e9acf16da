//! What every plot has: the head of the file, and axes that values are placed between.

use super::Theme;
use super::canvas::{Anchor, Canvas, Stroke, Text};
use super::palette::Paint;
use super::place::text_width;
use super::scale::{Range, Tick};
use crate::format::escape;

const FONT: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif";

/// Size of the text on axes and in legends.
pub(crate) const TEXT: f64 = 12.0;

/// Room below the axis for tick labels and the axis title.
pub(crate) const BELOW_AXIS: f64 = 48.0;

/// A plot's name, its words for those who cannot see it, and its size.
pub(crate) struct Head<'a> {
    pub(crate) title: &'a str,
    pub(crate) description: &'a str,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) id: &'a str,
}

/// Where a plot's content starts: below its title where that is drawn.
pub(crate) fn content_top(theme: Theme) -> f64 {
    match theme {
        Theme::Page | Theme::Phone => 0.0,
        Theme::Standalone => 34.0,
    }
}

/// Opens the file; the caller closes it with `</svg>`.
pub(crate) fn open(canvas: &mut Canvas, head: &Head<'_>) {
    let (width, height, id) = (head.width, head.height, escape(head.id));
    let size = match canvas.theme {
        Theme::Page | Theme::Phone => "class=\"plot\"".to_owned(),
        Theme::Standalone => format!(
            "xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"{FONT}\""
        ),
    };
    canvas.raw(&format!(
        "<svg viewBox=\"0 0 {width} {height}\" {size} role=\"img\" aria-labelledby=\"{id}-title {id}-desc\">"
    ));
    canvas.raw(&format!(
        "<title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-desc\">{}</desc>",
        escape(head.title),
        escape(head.description)
    ));
    if canvas.theme == Theme::Standalone {
        canvas.raw("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>");
        canvas.text(16.0, 24.0, Text::new(head.title, 15.0).bold());
    }
}

/// A plot without anything to draw.
pub(crate) fn empty(theme: Theme, head: &Head<'_>) -> String {
    let mut canvas = Canvas::new(theme);
    open(&mut canvas, head);
    let text = Text::new("no values to plot", TEXT).muted();
    canvas.text(
        head.width / 2.0,
        head.height / 2.0,
        text.anchor(Anchor::Middle),
    );
    canvas.raw("</svg>");
    canvas.finish()
}

/// The width of the widest of some texts.
pub(crate) fn widest<'a>(texts: impl Iterator<Item = &'a str>) -> f64 {
    texts.map(|text| text_width(text, TEXT)).fold(0.0, f64::max)
}

/// Room left of the axis for its title and tick labels.
pub(crate) fn left_of_axis(ticks: &[Tick]) -> f64 {
    36.0 + widest(ticks.iter().map(|tick| tick.label.as_str()))
}

/// Two axes, and where they lie.
pub(crate) struct Frame {
    pub(crate) x: Range,
    pub(crate) y: Range,
    pub(crate) x_ticks: Vec<Tick>,
    pub(crate) y_ticks: Vec<Tick>,
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
    /// Where the lowest value lies: the bottom, or above labels that stand there.
    pub(crate) floor: f64,
}

impl Frame {
    /// Axes that are yet to be placed.
    pub(crate) fn new(x: Range, y: Range) -> Self {
        Self {
            x_ticks: x.ticks(),
            y_ticks: y.ticks(),
            x,
            y,
            left: 0.0,
            right: 0.0,
            top: 0.0,
            bottom: 0.0,
            floor: 0.0,
        }
    }

    pub(crate) fn px(&self, x: f64) -> f64 {
        self.left + self.x.share(x) * (self.right - self.left)
    }

    pub(crate) fn py(&self, y: f64) -> f64 {
        self.floor - self.y.share(y) * (self.floor - self.top)
    }

    pub(crate) fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.px(x), self.py(y))
    }

    /// Grid, ticks and titles; the vertical axis has its title at `y_title.1`.
    pub(crate) fn axes(&self, canvas: &mut Canvas, x_title: &str, y_title: (&str, f64)) {
        for tick in &self.y_ticks {
            let y = self.py(tick.value);
            let grid = Stroke::new(Paint::Grid, 1.0);
            canvas.line((self.left, y), (self.right, y), grid);
            let text = Text::new(&tick.label, TEXT).muted().anchor(Anchor::End);
            canvas.text(self.left - 8.0, y + 4.0, text);
        }
        let (base, axis) = (self.bottom, Stroke::new(Paint::Muted, 1.0));
        canvas.line((self.left, base), (self.right, base), axis);
        let stride = self.label_stride();
        for (index, tick) in self.x_ticks.iter().enumerate() {
            let x = self.px(tick.value);
            canvas.line((x, base), (x, base + 5.0), axis);
            if index.is_multiple_of(stride) {
                let text = Text::new(&tick.label, TEXT).muted().anchor(Anchor::Middle);
                canvas.text(x, base + 18.0, text);
            }
        }
        if !x_title.is_empty() {
            let middle = (self.left + self.right) / 2.0;
            let title = Text::new(x_title, TEXT).anchor(Anchor::Middle);
            canvas.text(middle, base + 40.0, title);
        }
        if !y_title.0.is_empty() {
            let middle = (self.top + self.floor) / 2.0;
            let title = Text::new(y_title.0, TEXT).anchor(Anchor::Middle);
            canvas.upright_text(y_title.1, middle, title);
        }
    }

    /// Every how many ticks of the horizontal axis there is room for a label.
    fn label_stride(&self) -> usize {
        let [first, second, ..] = self.x_ticks.as_slice() else {
            return 1;
        };
        let room = (self.px(second.value) - self.px(first.value)).max(1.0);
        let wanted = widest(self.x_ticks.iter().map(|tick| tick.label.as_str())) + 6.0;
        (wanted / room).ceil().max(1.0) as usize
    }
}
