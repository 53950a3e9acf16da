//! Definitions in IDL, as far as ROS 2 writes them.
//!
//! ```text
//! module my_msgs { module msg {
//!   typedef double double__9[9];
//!   @verbatim (language="comment", text="What it is.")
//!   struct Wheel { std_msgs::msg::Header header; double__9 covariance; sequence<float, 4> speeds; string<20> name; };
//! }; };
//! ```
//!
//! Constants, annotations, enumerations (as 32-bit integers) and comments are understood; unions are not.

use std::collections::HashMap;

use super::definition::{Count, Definitions, Field, Kind, Primitive, Section, short_name};

/// A type with its number, as a `typedef` names it.
type Named = HashMap<String, (Kind, Count)>;

/// Adds all types that a section defines.
pub(super) fn parse(section: &Section<'_>, found: &mut Definitions) -> Result<(), String> {
    let text = section.lines.join("\n");
    let mut reader = Reader {
        tokens: tokens(&text, section.before)?,
        at: 0,
        modules: Vec::new(),
        named: Named::new(),
        constants: HashMap::new(),
    };
    while reader.at < reader.tokens.len() {
        reader.declaration(found)?;
    }
    Ok(())
}

#[derive(Debug, Clone, PartialEq)]
struct Token<'a> {
    text: &'a str,
    line: usize,
}

/// Words, numbers, texts in quotes and single signs, with `::` inside words.
fn tokens(text: &str, before: usize) -> Result<Vec<Token<'_>>, String> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut line = before + 1;
    while let Some(first) = rest.chars().next() {
        let word = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | ':' | '.');
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if rest.starts_with("//") || first == '#' {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first == '"' || first == '\'' {
            quoted(rest, first).ok_or_else(|| {
                format!("line {line} of its definition has a text that is never closed")
            })?
        } else if word(first) {
            rest.find(|letter| !word(letter)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(length);
        let skipped = first.is_whitespace()
            || token.starts_with("//")
            || token.starts_with("/*")
            || first == '#';
        if !skipped {
            found.push(Token { text: token, line });
        }
        line += token.matches('\n').count();
        rest = after;
    }
    Ok(found)
}

/// The length of a text in quotes.
fn quoted(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            letter if letter == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

struct Reader<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    modules: Vec<&'a str>,
    named: Named,
    constants: HashMap<&'a str, usize>,
}

impl<'a> Reader<'a> {
    fn wrong(&self, wanted: &str) -> String {
        match self.tokens.get(self.at) {
            Some(token) => format!(
                "line {} of its definition has `{}` in place of {wanted}",
                token.line, token.text
            ),
            None => format!("its definition ends where {wanted} should come"),
        }
    }

    fn peek(&self) -> &'a str {
        self.tokens.get(self.at).map_or("", |token| token.text)
    }

    fn next(&mut self, wanted: &str) -> Result<&'a str, String> {
        let token = self.tokens.get(self.at).ok_or_else(|| self.wrong(wanted))?;
        self.at += 1;
        Ok(token.text)
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        if self.peek() != sign {
            return Err(self.wrong(&format!("`{sign}`")));
        }
        self.at += 1;
        Ok(())
    }

    fn accept(&mut self, sign: &str) -> bool {
        let there = self.peek() == sign;
        self.at += usize::from(there);
        there
    }

    /// Passes over annotations: `@key`, `@verbatim (language="comment", text="…" "…")`.
    fn annotations(&mut self) -> Result<(), String> {
        while self.accept("@") {
            self.next("the name of an annotation")?;
            if self.accept("(") {
                while self.next("`)`")? != ")" {}
            }
        }
        Ok(())
    }

    fn declaration(&mut self, found: &mut Definitions) -> Result<(), String> {
        self.annotations()?;
        match self.peek() {
            "" | ";" => self.at += 1,
            "}" => {
                self.at += 1;
                self.modules.pop();
            }
            "module" => {
                self.at += 1;
                let name = self.next("the name of a module")?;
                self.modules.push(name);
                self.expect("{")?;
            }
            "struct" => self.structure(found)?,
            "typedef" => {
                self.at += 1;
                let (kind, count) = self.kind()?;
                let name = self.next("the name of a type")?;
                let count = self.array()?.unwrap_or(count);
                self.named.insert(name.to_owned(), (kind, count));
                self.expect(";")?;
            }
            "enum" => {
                self.at += 1;
                let name = self.next("the name of an enumeration")?;
                self.named
                    .insert(name.to_owned(), (Kind::Number(Primitive::U32), Count::One));
                while self.next("`}`")? != "}" {}
            }
            "const" => self.constant()?,
            _ => return Err(self.wrong("a module, struct, typedef, enum or const")),
        }
        Ok(())
    }

    fn constant(&mut self) -> Result<(), String> {
        self.at += 1;
        self.kind()?;
        let name = self.next("the name of a constant")?;
        self.expect("=")?;
        if let Ok(value) = self.peek().parse() {
            self.constants.insert(name, value);
        }
        while self.next("`;`")? != ";" {}
        Ok(())
    }

    fn structure(&mut self, found: &mut Definitions) -> Result<(), String> {
        self.at += 1;
        let name = self.next("the name of a struct")?;
        let package = self.modules.first().copied().unwrap_or_default();
        let full = format!("{package}/{name}");
        self.expect("{")?;
        let mut fields = Vec::new();
        loop {
            self.annotations()?;
            if self.accept("}") {
                break;
            }
            let (kind, count) = self.kind()?;
            loop {
                let name = self.next("the name of a field")?.to_owned();
                let count = self.array()?.unwrap_or(count);
                fields.push(Field {
                    name,
                    kind: kind.clone(),
                    count,
                });
                if !self.accept(",") {
                    break;
                }
            }
            self.expect(";")?;
        }
        // What ROS 2 writes where a message has no fields.
        if let [Field { name, .. }] = &fields[..]
            && name == "structure_needs_at_least_one_member"
        {
            fields.clear();
        }
        found.add(full, fields);
        Ok(())
    }

    /// `[9]` after a name; several of them multiply.
    fn array(&mut self) -> Result<Option<Count>, String> {
        let mut total: Option<usize> = None;
        while self.accept("[") {
            let size = self.size()?;
            self.expect("]")?;
            let product = total.unwrap_or(1).checked_mul(size);
            total = Some(product.ok_or_else(|| self.wrong("a smaller array"))?);
        }
        Ok(total.map(Count::Fixed))
    }

    fn size(&mut self) -> Result<usize, String> {
        let text = self.peek();
        let name = text.rsplit("::").next().unwrap_or(text);
        let size = text
            .parse()
            .ok()
            .or_else(|| self.constants.get(name).copied());
        let size = size.ok_or_else(|| self.wrong("a number"))?;
        self.at += 1;
        Ok(size)
    }

    fn kind(&mut self) -> Result<(Kind, Count), String> {
        let word = self.next("a type")?;
        let kind = match word {
            "sequence" => {
                self.expect("<")?;
                let (kind, inner) = self.kind()?;
                if inner != Count::One {
                    return Err(self.wrong(
                        "a sequence of numbers or messages (sequences of sequences are not read)",
                    ));
                }
                if self.accept(",") {
                    self.size()?;
                }
                self.expect(">")?;
                return Ok((kind, Count::Sequence));
            }
            "string" | "wstring" => {
                if self.accept("<") {
                    self.size()?;
                    self.expect(">")?;
                }
                if word == "string" {
                    Kind::Text
                } else {
                    Kind::WideText
                }
            }
            "unsigned" => match self.next("a type")? {
                "short" => Kind::Number(Primitive::U16),
                "long" if self.accept("long") => Kind::Number(Primitive::U64),
                "long" => Kind::Number(Primitive::U32),
                _ => return Err(self.wrong("short or long")),
            },
            "long" if self.accept("long") => Kind::Number(Primitive::I64),
            "long" if self.peek() == "double" => {
                return Err(self.wrong("a number of at most 8 bytes"));
            }
            _ => return Ok(self.word_kind(word)),
        };
        Ok((kind, Count::One))
    }

    /// A type of one word.
    fn word_kind(&self, word: &str) -> (Kind, Count) {
        let number = match word {
            "boolean" => Primitive::Bool,
            "octet" | "uint8" | "char" => Primitive::U8,
            "int8" => Primitive::I8,
            "short" | "int16" => Primitive::I16,
            "uint16" => Primitive::U16,
            "long" | "int32" => Primitive::I32,
            "uint32" => Primitive::U32,
            "int64" => Primitive::I64,
            "uint64" => Primitive::U64,
            "float" => Primitive::F32,
            "double" => Primitive::F64,
            _ => {
                let last = word.rsplit("::").next().unwrap_or(word);
                if let Some(named) = self.named.get(last) {
                    return named.clone();
                }
                let package = self.modules.first().copied().unwrap_or_default();
                let full = match word.contains("::") {
                    true => short_name(word),
                    false => format!("{package}/{word}"),
                };
                return (Kind::Message(full), Count::One);
            }
        };
        (Kind::Number(number), Count::One)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn structs_have_fields_of_every_kind() {
        let text = "module p { module msg { const short N = 4; typedef float F[3]; enum E { A, B };\n\
                    struct T { F a; double b[2][N]; sequence<p::msg::T2, 3> c; string<5> s, t; E e; long long l; unsigned long u; }; }; };";
        let found = Definitions::parse("p/msg/T", text, true).unwrap();
        let fields = found.fields("p/T");
        let of = |name: &str| fields.iter().find(|field| field.name == name).unwrap();
        assert_eq!(
            (&of("a").kind, of("a").count),
            (&Kind::Number(Primitive::F32), Count::Fixed(3))
        );
        assert_eq!(of("b").count, Count::Fixed(8));
        assert_eq!(
            (&of("c").kind, of("c").count),
            (&Kind::Message("p/T2".into()), Count::Sequence)
        );
        assert_eq!(
            (&of("t").kind, &of("e").kind),
            (&Kind::Text, &Kind::Number(Primitive::U32))
        );
        assert_eq!(
            (&of("l").kind, &of("u").kind),
            (&Kind::Number(Primitive::I64), &Kind::Number(Primitive::U32))
        );
    }

    #[test]
    fn what_is_not_understood_is_told_with_its_line() {
        let message = |text: &str| Definitions::parse("p/T", text, true).unwrap_err();
        assert_eq!(
            message("module p {\nunion U {"),
            "line 2 of its definition has `union` in place of a module, struct, typedef, enum or const"
        );
        assert_eq!(
            message("struct T { double"),
            "its definition ends where the name of a field should come"
        );
        assert!(
            message("struct T {\n sequence<sequence<float>> x; };")
                .contains("sequences of sequences are not read")
        );
        assert!(message("const string A = \"x").contains("never closed"));
    }
}
