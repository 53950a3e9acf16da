//! What the unit tests of figures and of pages share.

/// Asserts that two numbers agree to twelve digits.
pub(crate) fn close(left: f64, right: f64) {
    assert!(
        (left - right).abs() <= 1e-12 * right.abs().max(1.0),
        "{left} is not {right}"
    );
}

/// Asserts that every tag of an XML-like text is closed in order; void HTML tags may stand alone.
pub(crate) fn assert_balanced(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').expect("a tag is never closed");
        let tag = &rest[start + 1..end];
        assert!(!tag.contains('<'), "`<` inside tag `{tag}`");
        rest = &rest[end + 1..];
        let name = tag.trim_start_matches('/').split([' ', '/', '\n']).next();
        let name = name.unwrap_or_default();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "`</{name}>` closes something else");
        } else if !tag.ends_with('/') && !tag.starts_with('!') && name != "meta" {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "never closed: {open:?}");
}
