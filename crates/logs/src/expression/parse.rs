//! Expressions from their words.

use std::collections::BTreeMap;

use super::Problem;
use super::function::Function;
use super::name::Name;
use super::token::{Kind, Token, tokens};

/// Brackets in brackets.
const DEEPEST: usize = 64;

/// A part of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Number(f64),
    Columns(Name),
    /// Seconds to the next row.
    Step(usize),
    Negative(Box<Node>),
    /// Two parts and what stands between them, at this byte.
    Pair(char, usize, Box<Node>, Box<Node>),
    Call(Function, usize, Vec<Node>),
}

impl Node {
    /// How many rows are needed beyond the one that is computed.
    pub(super) fn lookahead(&self) -> usize {
        match self {
            Self::Number(_) | Self::Columns(_) => 0,
            Self::Step(_) => 1,
            Self::Negative(inner) => inner.lookahead(),
            Self::Pair(_, _, left, right) => left.lookahead().max(right.lookahead()),
            Self::Call(function, _, arguments) => {
                let inner = arguments.iter().map(Self::lookahead).max();
                inner.unwrap_or(0) + function.lookahead()
            }
        }
    }

    /// Adds the columns that are needed.
    pub(super) fn names<'a>(&'a self, names: &mut Vec<&'a Name>) {
        match self {
            Self::Number(_) | Self::Step(_) => {}
            Self::Columns(name) => names.push(name),
            Self::Negative(inner) => inner.names(names),
            Self::Pair(_, _, left, right) => {
                left.names(names);
                right.names(names);
            }
            Self::Call(_, _, arguments) => arguments.iter().for_each(|one| one.names(names)),
        }
    }
}

/// The expression of a text from a byte on, and its text with numbers in place of constants.
pub(super) fn parse(
    text: &str,
    start: usize,
    constants: &BTreeMap<String, f64>,
) -> Result<(Node, String), Problem> {
    let tokens = tokens(text, start)?;
    let mut complete = String::new();
    let mut copied = start;
    for token in &tokens {
        if let Some(value) = constant(token, constants) {
            complete += &text[copied..token.at];
            complete += &number(value);
            copied = token.end;
        }
    }
    complete += &text[copied..];
    let mut parser = Parser {
        tokens: &tokens,
        next: 0,
        depth: 0,
        constants,
    };
    let root = parser.sum()?;
    let rest = parser.peek();
    match &rest.kind {
        Kind::End => Ok((root, complete)),
        Kind::Sign(')') => Err(Problem::new(rest.at, "`)` closes nothing: remove it")),
        Kind::Sign(',') => Err(Problem::new(
            rest.at,
            "`,` belongs between the arguments of a function: remove it",
        )),
        _ => Err(Problem::new(
            rest.at,
            "a sign is missing before this: write one of + - * / ^",
        )),
    }
}

fn number(value: f64) -> String {
    if value < 0.0 {
        format!("({value:?})")
    } else {
        format!("{value:?}")
    }
}

fn constant(token: &Token, constants: &BTreeMap<String, f64>) -> Option<f64> {
    match &token.kind {
        Kind::Name(name) => constants.get(name.word()?).copied(),
        _ => None,
    }
}

struct Parser<'a> {
    tokens: &'a [Token],
    next: usize,
    depth: usize,
    constants: &'a BTreeMap<String, f64>,
}

impl<'a> Parser<'a> {
    /// The next word; the last is the end, which is never passed.
    fn peek(&self) -> &'a Token {
        &self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    /// Passes one of these signs.
    fn sign(&mut self, signs: &str) -> Option<(char, usize)> {
        let token = self.peek();
        match token.kind {
            Kind::Sign(sign) if signs.contains(sign) => {
                self.next += 1;
                Some((sign, token.at))
            }
            _ => None,
        }
    }

    fn sum(&mut self) -> Result<Node, Problem> {
        let mut left = self.product()?;
        while let Some((sign, at)) = self.sign("+-") {
            let right = self.product()?;
            left = Node::Pair(sign, at, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Node, Problem> {
        let mut left = self.signed()?;
        while let Some((sign, at)) = self.sign("*/") {
            let right = self.signed()?;
            left = Node::Pair(sign, at, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    /// A power, perhaps with a sign before it: -2^2 is -4.
    fn signed(&mut self) -> Result<Node, Problem> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Problem::new(
                self.peek().at,
                "the brackets go too deep: write it with fewer",
            ));
        }
        let node = match self.sign("+-") {
            Some(('-', _)) => Node::Negative(Box::new(self.signed()?)),
            Some(_) => self.signed()?,
            None => {
                let base = self.operand()?;
                match self.sign("^") {
                    Some((sign, at)) => {
                        let exponent = self.signed()?;
                        Node::Pair(sign, at, Box::new(base), Box::new(exponent))
                    }
                    None => base,
                }
            }
        };
        self.depth -= 1;
        Ok(node)
    }

    fn operand(&mut self) -> Result<Node, Problem> {
        let token = self.peek();
        self.next += 1;
        match &token.kind {
            Kind::Number(value) => Ok(Node::Number(*value)),
            Kind::Name(name) => {
                if self.sign("(").is_some() {
                    let function = Function::named(&name.text(), token.at)?;
                    return Ok(Node::Call(function, token.at, self.arguments(function)?));
                }
                if let Some(value) = constant(token, self.constants) {
                    return Ok(Node::Number(value));
                }
                match name.word() {
                    Some("dt") => Ok(Node::Step(token.at)),
                    _ => Ok(Node::Columns(name.clone())),
                }
            }
            Kind::Sign('(') => {
                let inner = self.sum()?;
                self.close()?;
                Ok(inner)
            }
            Kind::Sign(sign) => {
                let problem = format!("a column or number is missing before `{sign}`");
                Err(Problem::new(token.at, problem))
            }
            Kind::End => {
                let problem = "a column or number is missing at the end";
                Err(Problem::new(token.at, problem))
            }
        }
    }

    fn arguments(&mut self, function: Function) -> Result<Vec<Node>, Problem> {
        let mut arguments = vec![self.sum()?];
        while let Some((_, at)) = self.sign(",") {
            if !function.takes_several() {
                let problem = format!(
                    "`{}` takes one argument: remove the others",
                    function.name()
                );
                return Err(Problem::new(at, problem));
            }
            arguments.push(self.sum()?);
        }
        self.close()?;
        Ok(arguments)
    }

    fn close(&mut self) -> Result<(), Problem> {
        match self.sign(")") {
            Some(_) => Ok(()),
            None => Err(Problem::new(
                self.peek().at,
                "`)` is missing: close the bracket",
            )),
        }
    }
}
