package toolserver

import (
	"fmt"
	"strconv"
	"strings"

	"company/internal/lib/lazyregexp"
	"company/internal/lib/safetext"
	"company/internal/toolbox/toolproto"
)

// edited is a file's new content with a description of the edit.
type edited struct {
	content string
	count   int
	line    int
	note    string
}

// applyEdit replaces old by new in content. If old does not occur and each of its lines has a line number, it retries
// without the numbers.
func applyEdit(fileRequest toolproto.EditFileRequest, content string) (edited, error) {
	e, err := matchEdit(fileRequest, content)
	if err != nil {
		bare, ok := dropLineNumbers(fileRequest.Old)
		if !ok {
			return e, err
		}
		fileRequest.Old = bare
		if next, ok := dropLineNumbers(fileRequest.New); ok {
			fileRequest.New = next
		}
		if e, err = matchEdit(fileRequest, content); err != nil {
			return e, err
		}
		e.note = strings.TrimSuffix("the line numbers in old are not part of the file and were left out; "+e.note, "; ")
	}
	if place := describePlace(content, e.line); place != "" && e.count == 1 {
		e.note = strings.TrimSuffix(place+"; "+e.note, "; ") // the note may end with lines of the file
	}
	return e, nil
}

// matchEdit replaces old by new in content. If there is no exact match, it accepts a unique match of whole lines that
// differ only in white space. It never guesses further.
func matchEdit(fileRequest toolproto.EditFileRequest, content string) (edited, error) {
	old, repl := fileRequest.Old, fileRequest.New
	if old == "" {
		return edited{}, toolproto.Refuse(
			toolproto.KindArgument, "old is empty; give the text to replace, or use write_file for a whole file")
	}
	if old == repl {
		return edited{}, toolproto.Refuse(toolproto.KindArgument, "old and new are the same; nothing to change")
	}
	switch n := strings.Count(content, old); {
	case n == 1 || n > 1 && fileRequest.ReplaceAll:
		return edited{
			content: strings.ReplaceAll(content, old, repl), count: n,
			line: lineAt(content, strings.Index(content, old)),
		}, nil
	case n > 1:
		return edited{}, toolproto.Refuse(toolproto.KindMismatch,
			"old is in %s %d times, at lines %s; give more lines around the one you mean, or set replace_all",
			fileRequest.Path, n,
			describeOccurrences(content, old))
	}
	return editLines(fileRequest.Path, content, old, repl)
}

// aLineNumber matches the line numbers of read_file, and of other tools that models know.
var aLineNumber = lazyregexp.New(`^[ \t]*(\d{1,7})(?:: |:\r?$|\t|→|\| ?)`)

// dropLineNumbers removes line numbers from a text. ok is false unless each line has a number and the numbers are
// consecutive.
func dropLineNumbers(text string) (bare string, ok bool) {
	body := strings.TrimSuffix(text, "\n")
	lines := strings.Split(body, "\n")
	next := -1
	for i, line := range lines {
		m := aLineNumber.FindStringSubmatchIndex(line)
		if m == nil {
			return "", false
		}
		n, err := strconv.Atoi(line[m[2]:m[3]])
		if err != nil || next >= 0 && n != next {
			return "", false
		}
		lines[i], next = line[m[1]:], n+1
	}
	return strings.Join(lines, "\n") + text[len(body):], true
}

func toCRLF(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

func lineAt(content string, offset int) int { return 1 + strings.Count(content[:offset], "\n") }

func describeOccurrences(content, old string) string {
	var lines []string
	for from := 0; len(lines) < 10; {
		i := strings.Index(content[from:], old)
		if i < 0 {
			return strings.Join(lines, ", ")
		}
		lines = append(lines, fmt.Sprint(lineAt(content, from+i)))
		from += i + len(old)
	}
	return strings.Join(lines, ", ") + ", …"
}

// collapseSpace returns a line with white space normalized.
func collapseSpace(line string) string { return strings.Join(strings.Fields(line), " ") }

// editLines matches old as whole lines, ignoring white space.
func editLines(path, content, old, repl string) (edited, error) {
	lines := strings.SplitAfter(content, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	wantLines := strings.Split(strings.TrimRight(old, "\r\n"), "\n")
	have, want := make([]string, len(lines)), make([]string, len(wantLines))
	for i, l := range lines {
		have[i] = collapseSpace(l)
	}
	for i, l := range wantLines {
		want[i] = collapseSpace(l)
	}
	if strings.Join(want, "") == "" {
		return edited{}, notFound(path, lines, have, want)
	}
	index := -1
	for i := 0; i+len(want) <= len(have); i++ {
		if !linesEqual(have[i:i+len(want)], want) {
			continue
		}
		if index >= 0 {
			return edited{}, toolproto.Refuse(toolproto.KindMismatch,
				"old is not in %s exactly; but for white space it is at lines %d and %d; read the file again and copy the text",
				path, index+1, i+1)
		}
		index = i
	}
	if index < 0 {
		return edited{}, notFound(path, lines, have, want)
	}
	last := lines[index+len(want)-1]
	ending := last[len(strings.TrimRight(last, "\r\n")):]
	next := strings.Split(strings.TrimRight(repl, "\r\n"), "\n")
	block := strings.Join(learnIndents(wantLines, lines[index:index+len(want)], next, lines).translateLines(next), "\n")
	if ending == "\r\n" { // in a file with mixed line ends
		block = toCRLF(block)
	}
	if repl == "" {
		ending = ""
		block = ""
		next = nil // deletes whole lines with their line ends
	}
	return edited{
		content: strings.Join(lines[:index], "") + block + ending + strings.Join(lines[index+len(want):], ""),
		count:   1, line: index + 1,
		note: fmt.Sprintf("old matched lines %d-%d only when white space is ignored; whole lines were replaced, indented "+
			"as the file is", index+1, index+len(want)) + numberLines(index+1, block, len(next)),
	}, nil
}

// numberLines returns the new lines with their numbers, for the note.
func numberLines(from int, block string, n int) string {
	if n == 0 {
		return ""
	}
	const most = 60
	var b strings.Builder
	fmt.Fprintf(&b, ". Lines %d-%d are now:", from, from+n-1)
	for i, l := range strings.Split(block, "\n") {
		if i == most {
			fmt.Fprintf(&b, "\n(%d more)", n-most)
			break
		}
		fmt.Fprintf(&b, "\n%d: %s", from+i, safetext.Cut(strings.TrimRight(l, "\r"), 200))
	}
	return b.String()
}

func linesEqual(a, b []string) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// notFound returns a refusal that names the place in the file nearest to the text, and the difference.
func notFound(path string, lines, have, want []string) error {
	best, index := 0, -1
	for i := range have {
		score := 0
		for j := range want {
			if i+j < len(have) && have[i+j] == want[j] && want[j] != "" {
				score++
			}
		}
		if score > best {
			best, index = score, i
		}
	}
	message := fmt.Sprintf("old is not in %s; read the file again and copy the text exactly, without line numbers", path)
	old := strings.Join(want, "\n")
	if broken := strings.ReplaceAll(old, `\n`, "\n"); index < 0 && broken != old &&
		strings.Contains(strings.Join(have, "\n"), broken) {
		return toolproto.Refuse(toolproto.KindMismatch,
			`%s; not one of its lines is there: old holds the two characters \n; give a line break instead`, message)
	}
	if index < 0 {
		return toolproto.Refuse(toolproto.KindMismatch, "%s; not one of its lines is there", message)
	}
	for j := range want {
		if index+j >= len(have) {
			return toolproto.Refuse(toolproto.KindMismatch,
				"%s; nearest is line %d, but the file ends before line %d of old: %q", message, index+1, j+1, want[j])
		}
		if have[index+j] != want[j] {
			return toolproto.Refuse(toolproto.KindMismatch, "%s; nearest is line %d, but line %d is %q and old has %q",
				message, index+1, index+j+1, safetext.Cut(strings.TrimRight(lines[index+j], "\r\n"), 200),
				safetext.Cut(want[j], 200))
		}
	}
	return toolproto.Refuse(toolproto.KindMismatch, "%s; nearest is line %d", message, index+1)
}
