package yaml

import "fmt"

// maxLookAhead limits the bytes that the lexer reads more than once.
const maxLookAhead = 32 << 20

// checkLines refuses a text that has too many lines or costs the lexer too much. The lexer reads the rest of the line
// for each tab and each <, and a whole block of text for each blank line after another one. Lines end with \n, \r, or
// both.
func checkLines(text []byte, limit int) error {
	refuse := func(line int, message, fix string) error { return &Error{line, 1, message, fix} }
	line := 1
	var begin, seen, signs int
	blank, wasBlank := true, false
	for i, c := range text {
		switch c {
		case ' ':
		case '\t', '<':
			signs++
			blank = blank && c == '\t'
		case '\r':
			if i+1 < len(text) && text[i+1] == '\n' {
				continue
			}
			fallthrough
		case '\n':
			seen += signs * (i - begin)
			if blank && wasBlank {
				seen += len(text)
			}
			if seen > maxLookAhead {
				return refuse(line, "too many tabs, < or blank lines for a file of this size", "remove some")
			}
			if line++; line > limit+1 {
				return refuse(line-1, "too many lines", fmt.Sprintf("%d are allowed", limit))
			}
			begin, signs = i+1, 0
			wasBlank, blank = blank, true
		default:
			blank = false
		}
	}
	if seen += signs * (len(text) - begin); seen > maxLookAhead {
		return refuse(line, "too many tabs or < in a line", "remove some")
	}
	return nil
}
