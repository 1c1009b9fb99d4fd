//! Statements of a function's body.

use super::Parser;
use crate::ptx::ast::{Guard, Instruction, Linkage, Name, Statement};
use crate::ptx::error::{Outcome, Problem};
use crate::ptx::lexer::Token;

/// Deepest nesting of scopes in a body.
const SCOPES_MAX: u32 = 256;

impl Parser<'_> {
    /// From the opening brace to the closing one. Scopes stay in the list, so that their depth costs no stack.
    pub(super) fn body(&mut self) -> Outcome<Vec<Statement>> {
        let start = self.expect(Token::OpenBrace, "`{`")?;
        let mut statements = Vec::new();
        let mut depth = 0u32;
        loop {
            match self.peek() {
                Token::OpenBrace => {
                    if depth == SCOPES_MAX {
                        return Err(Problem::new(self.span(), format!("scopes nested deeper than {SCOPES_MAX}")));
                    }
                    self.bump();
                    statements.push(Statement::Open);
                    depth += 1;
                }
                Token::CloseBrace => {
                    self.bump();
                    if depth == 0 {
                        return Ok(statements);
                    }
                    depth -= 1;
                    statements.push(Statement::Close);
                }
                Token::Semicolon => _ = self.bump(),
                Token::Dotted => self.body_directive(&mut statements)?,
                Token::Name if self.peek_at(1) == Token::Colon => self.label(&mut statements)?,
                Token::Name | Token::At => statements.push(Statement::Instruction(self.instruction()?)),
                Token::End => {
                    let problem = Problem::new(start, "the body that begins here does not end");
                    return Err(problem.help("close it with `}`"));
                }
                _ => return Err(self.unexpected("an instruction, a label, a declaration or `}`")),
            }
        }
    }

    fn body_directive(&mut self, statements: &mut Vec<Statement>) -> Outcome<()> {
        let mut declarations = Vec::new();
        match self.text() {
            ".reg" => {
                self.bump();
                self.registers(&mut declarations)?;
            }
            ".loc" => {
                let loc = self.loc()?;
                statements.push(Statement::Loc(loc));
            }
            ".pragma" => self.skip_statement()?,
            ".file" => self.file()?,
            ".section" => self.skip_section()?,
            _ => {
                let linkage = if self.eat_dotted(".extern") { Linkage::Extern } else { Linkage::Local };
                let Some(space) = self.space() else {
                    return Err(self.unexpected("an instruction, .reg, .local, .shared, .param, .loc or .pragma"));
                };
                self.bump();
                self.variables(linkage, space, &mut declarations)?;
            }
        }
        statements.extend(declarations.into_iter().map(Statement::Declaration));
        Ok(())
    }

    /// `name:`, perhaps with a table of targets or a prototype after it.
    fn label(&mut self, statements: &mut Vec<Statement>) -> Outcome<()> {
        let name = self.name("a label")?;
        self.bump();
        match self.text() {
            ".branchtargets" => {
                self.bump();
                let targets = self.label_list()?;
                statements.push(Statement::BranchTargets { name, targets });
            }
            ".calltargets" | ".callprototype" => {
                self.skip_statement()?;
                statements.push(Statement::CallInfo(name));
            }
            _ => statements.push(Statement::Label(name)),
        }
        Ok(())
    }

    fn label_list(&mut self) -> Outcome<Vec<Name>> {
        let mut targets = vec![self.name("a label")?];
        while self.eat(Token::Comma) {
            targets.push(self.name("a label")?);
        }
        self.expect(Token::Semicolon, "`,` or `;`")?;
        Ok(targets)
    }

    fn instruction(&mut self) -> Outcome<Instruction> {
        let start = self.span();
        let guard = self.guard()?;
        let first = self.expect(Token::Name, "an instruction")?;
        let is_call = self.source.slice(first) == "call";
        while self.peek() == Token::Dotted {
            self.bump();
        }
        let opcode = first.to(self.last_span());
        let mut operands = Vec::new();
        while self.peek() != Token::Semicolon {
            let is_list = is_call && self.peek() == Token::OpenParen;
            operands.push(if is_list { self.list()? } else { self.operand(0)? });
            if !self.eat(Token::Comma) {
                break;
            }
        }
        let end = self.expect(Token::Semicolon, "`,` or `;` after an operand")?;
        Ok(Instruction { guard, opcode, operands, span: start.to(end) })
    }

    fn guard(&mut self) -> Outcome<Option<Guard>> {
        if !self.eat(Token::At) {
            return Ok(None);
        }
        let negate = self.eat(Token::Not);
        Ok(Some(Guard { name: self.name("a predicate")?, negate }))
    }
}
