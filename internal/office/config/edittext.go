package config

import (
	"errors"
	"slices"
	"strings"

	"company/internal/lib/lazyregexp"
)

// errLayout refuses an edit of a text whose layout is not supported. The file is not changed.
var errLayout = errors.New("its layout is unusual there")

// errComment refuses an edit that would lose a comment.
var errComment = errors.New("a comment is inside the value")

// configText is the text of a config file, for edits in place. An edit only changes the lines of one key.
type configText struct {
	lines []string // with their line ends
	eol   string
}

func splitConfigText(data string) *configText {
	t := &configText{lines: slices.Collect(strings.Lines(data)), eol: "\n"}
	if len(t.lines) > 0 && strings.HasSuffix(t.lines[0], "\r\n") {
		t.eol = "\r\n"
	}
	return t
}

func (t *configText) joinLines() string { return strings.Join(t.lines, "") }

// indentOf counts the leading spaces of a line.
func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// hasContent reports whether a line has more than white space and a comment.
func hasContent(line string) bool {
	rest := strings.TrimSpace(line)
	return rest != "" && rest[0] != '#'
}

// splitKey returns the key at the start of an unindented line, and the offset after its colon.
func splitKey(line string) (key string, rest int, ok bool) {
	end := strings.IndexByte(line, ':')
	if line != "" && (line[0] == '"' || line[0] == '\'') {
		closing := strings.IndexByte(line[1:], line[0])
		if closing < 0 {
			return "", 0, false
		}
		key = line[1 : 1+closing]
		if end = closing + 2; end >= len(line) || line[end] != ':' {
			return "", 0, false
		}
	} else if end < 0 {
		return "", 0, false
	} else {
		key = line[:end]
	}
	after := line[end+1:]
	if after != "" && !strings.ContainsAny(after[:1], " \t\r\n") {
		return "", 0, false
	}
	return key, end + 1, true
}

// textBlock holds the lines of one mapping and the indentation of its keys.
type textBlock struct{ from, to, indent int }

// rootBlock returns the mapping of the whole text.
func (t *configText) rootBlock() textBlock {
	b := textBlock{0, len(t.lines), 0}
	for _, line := range t.lines {
		if hasContent(line) && !strings.HasPrefix(line, "---") && !strings.HasPrefix(line, "%") {
			b.indent = indentOf(line)
			break
		}
	}
	return b
}

// textEntry is a key of a mapping: its line, the offset after its colon, its last line, and the upper limit for its
// comments.
type textEntry struct{ line, value, last, limit int }

// findEntry finds a key of a mapping.
func (t *configText) findEntry(b textBlock, key string) (e textEntry, ok bool) {
	for i := b.from; i < b.to; i++ {
		line := t.lines[i]
		if !hasContent(line) || indentOf(line) != b.indent {
			continue
		}
		name, rest, ok := splitKey(line[b.indent:])
		if !ok || name != key {
			continue
		}
		e = textEntry{i, b.indent + rest, t.lastLine(i, b.indent+rest), len(t.lines)}
		for j := e.last + 1; j < len(t.lines); j++ {
			below := t.lines[j]
			if depth, ok := draftDepth(below); ok && depth <= b.indent {
				e.limit = min(e.limit, j)
			}
			if !hasContent(below) {
				continue
			}
			dash := strings.HasPrefix(below[indentOf(below):], "-") && !strings.HasPrefix(below, "---")
			if indentOf(below) < b.indent || indentOf(below) == b.indent && !dash {
				e.limit = min(e.limit, j)
				break
			}
			e.last = j
		}
		e.limit = max(e.limit, e.last+1)
		return e, true
	}
	return textEntry{}, false
}

// lastLine returns the line in which a value ends, judging by its quotes and brackets.
func (t *configText) lastLine(line, from int) int {
	text := strings.Join(t.lines[line:], "")
	start := from + len(text[from:]) - len(strings.TrimLeft(text[from:], " \t"))
	if start == len(text) || !strings.ContainsAny(text[start:start+1], "\"'[{") {
		return line
	}
	end, _, err := scanValue(text, start)
	if err != nil {
		return line
	}
	return line + strings.Count(text[:end], "\n")
}

// childBlock returns the mapping below an entry. ok is false if there is none.
func (t *configText) childBlock(e textEntry) (b textBlock, ok bool) {
	for i := e.line + 1; i <= e.last; i++ {
		if hasContent(t.lines[i]) {
			return textBlock{e.line + 1, e.last + 1, indentOf(t.lines[i])}, true
		}
	}
	return textBlock{}, false
}

// draftRE matches a commented key as ConfigDraft writes it: # without a space.
var draftRE = lazyregexp.New(`^#((?:  )*)([a-z0-9_-]+):(?: |\r?\n|$)`)

// draftDepth returns the indentation of a commented key.
func draftDepth(line string) (depth int, ok bool) {
	m := draftRE.FindStringSubmatch(line)
	if m == nil {
		return 0, false
	}
	return len(m[1]), true
}

// findDraft finds a commented key in a range of lines.
func (t *configText) findDraft(from, to, indent int, key string) (line int, ok bool) {
	for i := from; i < to; i++ {
		if m := draftRE.FindStringSubmatch(t.lines[i]); m != nil && len(m[1]) == indent && m[2] == key {
			return i, true
		}
	}
	return 0, false
}

// insertLines inserts lines before a line.
func (t *configText) insertLines(index int, lines ...string) {
	if index > 0 && !strings.HasSuffix(t.lines[index-1], "\n") {
		t.lines[index-1] += t.eol
	}
	for i, line := range lines {
		lines[i] = line + t.eol
	}
	t.lines = slices.Insert(t.lines, index, lines...)
}

// scanValue returns the end of the value at an offset. A quoted or bracketed value ends at its closing character, a
// plain one at a comment or the line end. comment reports whether there is a comment inside brackets.
func scanValue(text string, from int) (end int, comment bool, err error) {
	switch text[from] {
	case '"', '\'':
		end, err = scanQuotes(text, from)
		return end, false, err
	case '[', '{':
		depth := 0
		for i := from; i < len(text); i++ {
			switch c := text[i]; {
			case c == '[' || c == '{':
				depth++
			case c == ']' || c == '}':
				if depth--; depth == 0 {
					return i + 1, comment, nil
				}
			case (c == '"' || c == '\'') && strings.ContainsAny(text[i-1:i], "[{,: \t\n"):
				closing, err := scanQuotes(text, i)
				if err != nil {
					return 0, false, err
				}
				i = closing - 1
			case c == '#' && strings.ContainsAny(text[i-1:i], " \t\n"):
				comment = true
				next := strings.IndexByte(text[i:], '\n')
				if next < 0 {
					return 0, false, errLayout
				}
				i += next
			}
		}
		return 0, false, errLayout
	}
	end = from + len(strings.TrimRight(firstLine(text[from:]), " \t\r\n"))
	for i := from + 1; i < end; i++ {
		if text[i] == '#' && (text[i-1] == ' ' || text[i-1] == '\t') {
			return from + len(strings.TrimRight(text[from:i], " \t")), false, nil
		}
	}
	return end, false, nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// scanQuotes finds the end of a quoted text.
func scanQuotes(text string, from int) (end int, err error) {
	quote := text[from]
	for i := from + 1; i < len(text); i++ {
		switch {
		case quote == '"' && text[i] == '\\':
			i++
		case text[i] != quote:
		case quote == '\'' && i+1 < len(text) && text[i+1] == quote:
			i++
		default:
			return i + 1, nil
		}
	}
	return 0, errLayout
}

// hasComment reports whether a line may contain a comment. A # in quotes counts, too, so some possible edits are
// refused.
func hasComment(line string) bool {
	return strings.HasPrefix(strings.TrimSpace(line), "#") || strings.Contains(line, " #") || strings.Contains(line, "\t#")
}

// setEntry replaces the value of an entry by a value on one line.
func (t *configText) setEntry(e textEntry, value string, items []node) error {
	head, below := t.lines[e.line][:e.value], strings.Join(t.lines[e.line:e.last+1], "")
	start := e.value + len(below[e.value:]) - len(strings.TrimLeft(below[e.value:], " \t"))
	if start == len(below) || strings.ContainsAny(below[start:start+1], "#\r\n") {
		return t.setBelow(e, head, value, items)
	}
	literal := below[start] == '|' || below[start] == '>'
	end, comment, err := scanValue(below, start)
	switch {
	case err != nil:
		return err
	case comment:
		return errComment
	}
	rest := below[end:]
	tail := firstLine(rest)
	if more := rest[min(len(tail)+1, len(rest)):]; !literal &&
		slices.ContainsFunc(slices.Collect(strings.Lines(more)), hasComment) {
		return errComment
	}
	if !strings.Contains(below[:end], "\n") {
		tail = moveComment(tail, end, len(head)+1+len(value))
	}
	t.replaceLines(e, head+" "+value+tail)
	return nil
}

// moveComment keeps the comment after a value in its column if there is room.
func moveComment(tail string, was, is int) string {
	comment := strings.TrimLeft(tail, " \t")
	if comment == "" || comment[0] != '#' {
		return comment
	}
	return strings.Repeat(" ", max(1, was+len(tail)-len(comment)-is)) + comment
}

// replaceLines replaces the lines of an entry by one line.
func (t *configText) replaceLines(e textEntry, line string) {
	end := ""
	if strings.HasSuffix(t.lines[e.last], "\n") {
		end = t.eol
	}
	t.lines = slices.Replace(t.lines, e.line, e.last+1, strings.TrimRight(line, " \t\r\n")+end)
}

// setBelow sets the value of an entry that has no value, or whose value is on the lines below its key.
func (t *configText) setBelow(e textEntry, head, value string, items []node) error {
	tail := strings.TrimRight(t.lines[e.line][e.value:], "\r\n")
	if e.last > e.line {
		isItem := func(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " "), "- ") }
		if len(items) > 0 && slices.ContainsFunc(t.lines[e.line+1:e.last+1], isItem) {
			return t.setItems(e, items)
		}
		if slices.ContainsFunc(t.lines[e.line+1:e.last+1], hasComment) {
			return errComment
		}
	}
	t.replaceLines(e, head+" "+value+moveComment(tail, e.value, len(head)+1+len(value)))
	return nil
}

// setItems replaces the items of a list with one item per line. Items that stay keep their line and its comments.
func (t *configText) setItems(e textEntry, items []node) error {
	kept := map[string]string{}
	indent, chunk := -1, ""
	for _, line := range t.lines[e.line+1 : e.last+1] {
		chunk += line
		if !hasContent(line) {
			continue
		}
		if indent < 0 {
			indent = indentOf(line)
		}
		text := line[indentOf(line):]
		if !strings.HasPrefix(text, "- ") || indentOf(line) != indent {
			return errLayout
		}
		start := len("- ") + len(text[len("- "):]) - len(strings.TrimLeft(text[len("- "):], " "))
		end, _, err := scanValue(text, start)
		if err != nil {
			return err
		}
		item, ok := parseValue(text[start:end])
		if !ok || item.kind != nodeText {
			return errLayout
		}
		kept[item.text], chunk = chunk, ""
	}
	var lines []string
	for _, item := range items {
		line, ok := kept[item.text]
		if !ok {
			line = strings.Repeat(" ", indent) + "- " + renderNode(item) + t.eol
		} else if !strings.HasSuffix(line, "\n") {
			line += t.eol
		}
		lines = append(lines, slices.Collect(strings.Lines(line))...)
	}
	t.lines = slices.Replace(t.lines, e.line+1, e.last+1, lines...)
	return nil
}

// removeEntry removes an entry. If it contains comments, its lines become comments instead.
func (t *configText) removeEntry(e textEntry) {
	if !slices.ContainsFunc(t.lines[e.line:e.last+1], hasComment) {
		t.lines = slices.Delete(t.lines, e.line, e.last+1)
		return
	}
	for i := e.line; i <= e.last; i++ {
		if line := t.lines[i]; hasContent(line) {
			if index := strings.Index(line, "  #"); index >= 0 { // the comment stays in its column
				line = line[:index] + line[index+1:]
			}
			t.lines[i] = "#" + line
		}
	}
}

// uncommentLine turns a commented key into a real one.
func (t *configText) uncommentLine(line int) {
	text := t.lines[line][1:]
	if index := strings.Index(text, " #"); index >= 0 { // the comment stays in its column
		text = text[:index] + " " + text[index:]
	}
	t.lines[line] = text
}
