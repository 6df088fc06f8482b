//! The grammar of RFC 6570 section 2.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::matching::atoms;
use super::{
    Expression, Literal, MAX_VARIABLES, Modifier, Name, OPERATORS, Operator, Part, TemplateError,
    TemplateErrorKind, Variable, escaped_octet, is_reserved, is_unreserved, push_escaped,
};

pub(super) fn parse(source: &str) -> Result<(Vec<Name>, Vec<Part>), TemplateError> {
    let mut parser = Parser { names: Vec::new(), parts: Vec::new(), variable_count: 0 };
    let mut position = 0;
    while let Some(rest) = source.get(position..).filter(|rest| !rest.is_empty()) {
        if let Some(inside) = rest.strip_prefix('{') {
            let (inside, _) = inside
                .split_once('}')
                .ok_or(TemplateError { position, kind: TemplateErrorKind::UnclosedExpression })?;
            parser.expression(inside, position + 1)?;
            position += inside.len() + 2;
        } else {
            let (literal, _) = rest.split_once('{').unwrap_or((rest, ""));
            parser.literal(literal, position)?;
            position += literal.len();
        }
    }
    Ok((parser.names, parser.parts))
}

struct Parser {
    names: Vec<Name>,
    parts: Vec<Part>,
    variable_count: usize,
}

impl Parser {
    fn literal(&mut self, source: &str, start: usize) -> Result<(), TemplateError> {
        let mut text = String::with_capacity(source.len());
        for (index, character) in source.char_indices() {
            let fail = |kind| Err(TemplateError { position: start + index, kind });
            match character {
                '%' if escaped_octet(&source[index..]).is_some() => text.push('%'),
                '%' => return fail(TemplateErrorKind::InvalidPercentEncoding),
                '}' => return fail(TemplateErrorKind::StrayClosingBrace),
                _ if is_unreserved(character) || is_reserved(character) => text.push(character),
                _ if character.is_ascii() || character.is_control() => {
                    return fail(TemplateErrorKind::InvalidLiteral);
                }
                _ => push_escaped(character, &mut text),
            }
        }
        self.parts.push(Part::Literal(Literal { atoms: atoms(&text), text }));
        Ok(())
    }

    fn expression(&mut self, inside: &str, start: usize) -> Result<(), TemplateError> {
        let symbol = inside.chars().next();
        if symbol.is_some_and(|symbol| "=,!@|".contains(symbol)) {
            return Err(TemplateError { position: start, kind: TemplateErrorKind::ReservedOperator });
        }
        let operator = OPERATORS.iter().find(|row| row.symbol.is_some() && row.symbol == symbol);
        let (operator, list, mut position) = match operator {
            // Operators are one byte long.
            Some(operator) => (operator, &inside[1..], start + 1),
            None => (&OPERATORS[0], inside, start),
        };
        if list.is_empty() {
            return Err(TemplateError { position, kind: TemplateErrorKind::EmptyExpression });
        }
        let mut variables = Vec::new();
        for specification in list.split(',') {
            variables.push(self.variable(specification, position)?);
            position += specification.len() + 1;
        }
        self.push_expression(operator, variables);
        Ok(())
    }

    /// Splits where the operator's first character is also its separator and names play no part.
    fn push_expression(&mut self, operator: &'static Operator, variables: Vec<Variable>) {
        if !operator.named && operator.first == Some(operator.separator) {
            for variable in variables {
                self.parts.push(Part::Expression(Expression { operator, variables: vec![variable] }));
            }
        } else {
            self.parts.push(Part::Expression(Expression { operator, variables }));
        }
    }

    fn variable(&mut self, specification: &str, position: usize) -> Result<Variable, TemplateError> {
        if self.variable_count == MAX_VARIABLES {
            return Err(TemplateError { position, kind: TemplateErrorKind::TooManyVariables });
        }
        self.variable_count += 1;
        let (name, modifier) = if let Some((name, length)) = specification.split_once(':') {
            let kind = TemplateErrorKind::InvalidPrefix;
            let length =
                prefix_length(length).ok_or(TemplateError { position: position + name.len() + 1, kind })?;
            (name, Modifier::Prefix(length))
        } else if let Some(name) = specification.strip_suffix('*') {
            (name, Modifier::Explode)
        } else {
            (specification, Modifier::None)
        };
        if !name.split('.').all(is_name_part) {
            return Err(TemplateError { position, kind: TemplateErrorKind::InvalidVariableName });
        }
        Ok(Variable { name: self.name_index(name), modifier })
    }

    fn name_index(&mut self, name: &str) -> usize {
        self.names.iter().position(|known| known.text == name).unwrap_or_else(|| {
            self.names.push(Name { text: name.into(), atoms: atoms(name) });
            self.names.len() - 1
        })
    }
}

/// One to four digits without a leading zero.
fn prefix_length(digits: &str) -> Option<usize> {
    let shape =
        digits.len() <= 4 && !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    if shape { digits.parse().ok() } else { None }
}

/// A run of `varchar` (RFC 6570 section 2.3).
fn is_name_part(part: &str) -> bool {
    // The two digits after a `%` pass as ordinary characters.
    !part.is_empty()
        && part.char_indices().all(|(index, character)| match character {
            '%' => escaped_octet(&part[index..]).is_some(),
            _ => character.is_ascii_alphanumeric() || character == '_',
        })
}
