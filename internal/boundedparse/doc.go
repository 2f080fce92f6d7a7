// Package boundedparse is the one place where text of others meets a parser that calls
// itself. Each language has a package below it, so that a program links the parsers
// that it needs: bash, docker, jq, toml, yaml.
//
// A parser that calls itself uses stack for each level of nesting. A stack that
// overflows ends the process, and no recover helps. So each package checks the size
// of a text before its parser starts, and bounds the nesting in a way that quotes and
// comments in the text cannot evade:
//
//   - bash counts the parser's own stack frames, each time the parser asks for text.
//   - yaml reads tokens first. The lexer does not call itself.
//   - toml skips quoted text and comments, and counts brackets.
//   - docker bounds the size of arguments, before and after their variables are expanded.
//   - jq bounds the size of an expression, and the depth of a result.
//
// A text beyond a bound is an error, as one that breaks the syntax is.
//
// These parsers bound themselves, and are called directly: encoding/json (10,000
// levels), encoding/xml (10,000), go/parser (100,000), go/build/constraint (1,000 signs),
// regexp (1,000) and text/template (10,000 parentheses). Tests of this package show it.
// test/archtest lets no other package call the parsers that do not, and refuses one that it
// does not know.
package boundedparse
