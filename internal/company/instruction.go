package company

import (
	"slices"
	"strings"
)

// Limits of the criteria that an instruction lists. Beyond them it is judged as a whole.
const (
	maxCriteria     = 20
	maxCriteriaText = 32 << 10 // bytes of an instruction that is searched for criteria
)

// quotesStrangers reports whether the instruction quotes a forge's comments or an issue.
func (t *Task) quotesStrangers() bool { return t.Follows != "" || t.Issue != nil }

// Criteria returns what the instruction lists as its acceptance criteria: the items below such a heading, and items
// with an empty check box. It returns nil for the words of strangers, and if there are too many. Any other text is
// judged as a whole.
func (t *Task) Criteria() []string {
	if t.quotesStrangers() || len(t.Instruction) > maxCriteriaText {
		return nil
	}
	if criteria := listCriteria(t.Instruction); len(criteria) <= maxCriteria {
		return criteria
	}
	return nil
}

func listCriteria(text string) (criteria []string) {
	level := 0 // of the heading of a list of criteria; a heading of this level ends the list, and 0 means none
	least := 0 // least indentation of the list's items
	open := -1 // indentation of the criterion that following lines continue, or -1
	blank := false
	for _, line := range proseLines(text) {
		switch {
		case line.text == "":
		case line.heading > 0:
			open = -1
			if namesCriteria(line.text) {
				level, least = line.heading, 0
			} else if line.heading <= level {
				level = 0
			}
		case open >= 0 && (line.indent > open || line.item == 0 && !blank && !line.announcesList()):
			criteria[len(criteria)-1] += " " + line.text
		case namesCriteria(line.text[line.item:]):
			level = maxHeading
			least = line.indent
			open = -1
			if line.item > 0 {
				least++
			}
		case line.item > 0 && (line.isOpen || level > 0 && line.indent >= least):
			criteria, open = append(criteria, line.text[line.item:]), line.indent
		case line.item > 0, open >= 0: // the list has ended
			level, open = 0, -1
		}
		blank = line.text == ""
	}
	return criteria
}

// criteriaNames are the headings of a list of criteria, in lower case.
var criteriaNames = []string{"acceptance criteria", "acceptance criterion", "definition of done"}

// namesCriteria reports whether a line is the heading of a list of criteria. It may end with words in brackets.
func namesCriteria(line string) bool {
	const marks = "#*_: \t"
	name := strings.Trim(line, marks)
	if i := strings.Index(name, "("); i > 0 && strings.HasSuffix(name, ")") {
		name = name[:i]
	}
	return slices.Contains(criteriaNames, strings.ToLower(strings.Trim(name, marks)))
}

// countPieces counts the pieces of work that an instruction lists: headings, and items of its outermost lists.
func countPieces(text string) (n int) {
	item := -1 // indentation of the last counted item, or -1
	for _, line := range proseLines(text) {
		switch {
		case line.heading > 0:
			n++
			item = -1
		case line.item > 0 && (item < 0 || line.indent <= item):
			n++
			item = line.indent
		case line.item == 0 && line.text != "" && line.indent == 0:
			item = -1
		}
	}
	return n
}

// proseLine is a line of Markdown outside of code.
type proseLine struct {
	text    string // without indentation
	indent  int    // bytes
	heading int    // level; 0 for a line that is no heading
	item    int    // offset of the text of a list's item, after its bullet and check box; 0 for other lines
	isOpen  bool   // an item with an empty check box
}

// announcesList reports whether a line ends with a colon.
func (l proseLine) announcesList() bool { return strings.HasSuffix(strings.Trim(l.text, "*_"), ":") }

// proseLines returns the lines of a text that are not in code between fences.
func proseLines(text string) (lines []proseLine) {
	fence := ""
	for raw := range strings.Lines(text) {
		bare := strings.TrimSpace(raw)
		sign := fenceOf(bare)
		switch {
		case fence != "":
			if strings.HasPrefix(sign, fence) && sign == bare {
				fence = ""
			}
			continue
		case sign != "":
			fence = sign
			continue
		}
		line := proseLine{text: bare, indent: len(raw) - len(strings.TrimLeft(raw, " \t")), heading: headingLevel(bare)}
		line.item = findItem(bare)
		line.isOpen = strings.HasSuffix(strings.TrimRight(bare[:line.item], " \t"), "[ ]")
		lines = append(lines, line)
	}
	return lines
}

// fenceOf returns the fence with which a line begins or ends code, or "" (CommonMark 4.5).
func fenceOf(line string) string {
	for _, sign := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, sign)
		if n := len(line) - len(rest); n >= 3 && (sign == "~" || !strings.Contains(rest, "`")) {
			return line[:n]
		}
	}
	return ""
}

// findItem returns the offset of an item's text in a line, after its bullet and check box. It returns 0 if the line
// does not begin an item.
func findItem(line string) int {
	sign := strings.TrimLeft(line, "0123456789")
	switch digits := len(line) - len(sign); {
	case digits == 0 && strings.IndexAny(sign, "-*+") == 0,
		digits >= 1 && digits <= 3 && strings.IndexAny(sign, ".)") == 0:
	default:
		return 0
	}
	text := strings.TrimLeft(sign[1:], " \t")
	if text == "" || len(text) == len(sign)-1 { // no blank behind the sign
		return 0
	}
	for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
		if after := strings.TrimLeft(strings.TrimPrefix(text, box), " \t"); strings.HasPrefix(text, box) && after != "" {
			text = after
			break
		}
	}
	return len(line) - len(text)
}

// maxHeading is the deepest level of a Markdown heading.
const maxHeading = 6

// headingLevel returns the level of a Markdown heading, or 0 if the line is no heading.
func headingLevel(line string) int {
	text := strings.TrimLeft(line, "#")
	if signs := len(line) - len(text); signs >= 1 && signs <= maxHeading && strings.IndexAny(text, " \t") == 0 {
		return signs
	}
	return 0
}
