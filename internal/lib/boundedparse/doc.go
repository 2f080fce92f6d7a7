// Package boundedparse has the parsers for untrusted text, where such a parser is recursive. Each language has a
// package below it, so that a program links only the parsers that it needs: bash, docker, toml, yaml.
//
// A recursive parser uses stack for each level of nesting. A stack overflow ends the process, and recover does not
// help. So each package checks the size of a text before its parser starts. It also limits the nesting in a way that
// quotes and comments in the text cannot evade:
//
//   - bash counts the parser's own stack frames, each time the parser reads more text.
//   - yaml reads tokens first. The lexer is not recursive.
//   - toml skips quoted text and comments, and counts brackets.
//   - docker limits the size of arguments, before and after their variables are expanded.
//
// A text beyond a limit is an error, like invalid syntax.
//
// These parsers have limits of their own and are called directly: encoding/json (10,000 levels), encoding/xml (10,000),
// go/parser (100,000), go/build/constraint (1,000 signs), regexp (1,000) and text/template (10,000 parentheses). Tests
// of this package verify that. test/archtest allows only this package to call parsers without limits, and refuses
// parsers that it does not know.
package boundedparse
