package toolserver

import (
	"slices"
	"strings"
)

// indents translates the indentation of a text that a model wrote into that of
// the file. It learns from lines that both have.
type indents struct {
	same  bool           // both are alike: nothing is translated
	known map[int]string // width in the model's text → the file's white space
	unit  int            // width of one level in the model's text
	level string         // one level in the file
}

// wide is what a tab counts for in a width.
const wide = 4

func indentWidth(indent string) int {
	return len(indent) + (wide-1)*strings.Count(indent, "\t")
}

// indentOf is the white space before the text of a line; ok is false for a
// line without text.
func indentOf(line string) (indent string, ok bool) {
	text := strings.TrimLeft(line, " \t")
	return line[:len(line)-len(text)], strings.TrimSpace(text) != ""
}

// learnIndents compares the model's lines with the file's own, which stand
// beside each other. all is the whole file, next what the model wants instead.
func learnIndents(model, own, next, all []string) indents {
	in := indents{same: true, known: map[int]string{}, unit: unitOf(slices.Concat(model, next)), level: levelOf(own)}
	if in.level == "" {
		in.level = levelOf(all)
	}
	if in.level == "" {
		in.level = strings.Repeat(" ", in.unit)
	}
	for i := range model {
		theirs, ok := indentOf(model[i])
		if !ok {
			continue
		}
		ours, _ := indentOf(own[i])
		in.same = in.same && theirs == ours
		if _, known := in.known[indentWidth(theirs)]; !known {
			in.known[indentWidth(theirs)] = ours
		}
	}
	return in
}

// unitOf is the smallest step between the indents of lines. A step of one
// column aligns something, and is no level.
func unitOf(lines []string) int {
	var widths []int
	for _, l := range lines {
		if indent, ok := indentOf(l); ok && !slices.Contains(widths, indentWidth(indent)) {
			widths = append(widths, indentWidth(indent))
		}
	}
	slices.Sort(widths)
	unit := 0
	for i := 1; i < len(widths); i++ {
		if step := widths[i] - widths[i-1]; step > 1 && (unit == 0 || step < unit) {
			unit = step
		}
	}
	if unit == 0 {
		return wide
	}
	return unit
}

// levelOf is what lines are indented with by one level: a tab, or so many
// blanks; empty when no line tells.
func levelOf(lines []string) string {
	tabs, blanks := 0, 0
	for _, l := range lines {
		switch indent, ok := indentOf(l); {
		case !ok || indent == "":
		case indent[0] == '\t':
			tabs++
		default:
			blanks++
		}
	}
	switch {
	case tabs+blanks == 0:
		return ""
	case tabs >= blanks:
		return "\t"
	}
	return strings.Repeat(" ", unitOf(append(slices.Clone(lines), "x")))
}

// translateLines gives every line of a text the file's indentation.
func (in indents) translateLines(lines []string) []string {
	out := slices.Clone(lines)
	if in.same {
		return out
	}
	for i, l := range lines {
		if indent, ok := indentOf(l); ok {
			out[i] = in.whitespaceFor(indentWidth(indent)) + l[len(indent):]
		}
	}
	return out
}

// whitespaceFor is the file's white space for a width: that of a line that both have, or
// so many levels more or fewer than the nearest such line above it.
func (in indents) whitespaceFor(w int) string {
	if ours, ok := in.known[w]; ok {
		return ours
	}
	near := -1
	for k := range in.known {
		if k < w && k > near {
			near = k
		}
	}
	if near < 0 { // further out than all of them
		for k := range in.known {
			if near < 0 || k < near {
				near = k
			}
		}
		ours := in.known[near]
		for range (near - w + in.unit - 1) / in.unit {
			ours = strings.TrimSuffix(ours, in.level)
		}
		return ours
	}
	more := w - near
	return in.known[near] + strings.Repeat(in.level, more/in.unit) + strings.Repeat(" ", more%in.unit)
}
