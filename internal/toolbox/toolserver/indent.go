package toolserver

import (
	"slices"
	"strings"
)

// indents translates the indentation of a model's text into that of the file. It learns from lines that both have.
type indents struct {
	same  bool           // both are equal, so no translation is needed
	known map[int]string // width in the model's text → the file's white space
	unit  int            // width of one level in the model's text
	level string         // one level in the file
}

// wide is the width of a tab.
const wide = 4

func indentWidth(indent string) int {
	return len(indent) + (wide-1)*strings.Count(indent, "\t")
}

// indentOf returns the white space before the text of a line. ok is false for a blank line.
func indentOf(line string) (indent string, ok bool) {
	text := strings.TrimLeft(line, " \t")
	return line[:len(line)-len(text)], strings.TrimSpace(text) != ""
}

// learnIndents compares the model's lines with the corresponding lines of the file. all is the whole file, and next is
// the model's replacement.
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

// unitOf returns the smallest step between the indents of lines. A step of one column is an alignment, not a level.
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

// levelOf returns the indentation of one level: a tab, or a number of blanks. It returns "" if no line is indented.
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

// translateLines gives each line of a text the file's indentation.
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

// whitespaceFor returns the file's white space for a width. If no known line has that width, it adds or removes levels
// relative to the nearest one.
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
	if near < 0 { // less than all known indents
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
