package patch

import (
	"iter"
	"strconv"
	"strings"
)

// Kind is the kind of a patch line.
type Kind int

const (
	Outside Kind = iota // before the first file
	Heading             // of a file: its names, modes and ids
	Hunk                // the head of a hunk
	Added
	Removed
	Kept
	Note // such as "\ No newline at end of file"
)

// File is one file of a patch. Its fields are complete at its first hunk or at the next file.
type File struct {
	Old, New string // paths; empty if the file does not exist in that version

}

// Path returns the new path, or the old one of a deleted file.
func (f *File) Path() string {
	if f.New == "" {
		return f.Old
	}
	return f.New
}

// Line is one line of a patch.
type Line struct {
	Kind Kind
	File *File  // nil before the first file
	Raw  string // the original text, with its line end
	Text string // without its line end, and in hunks without its sign
	// Old and New are the line numbers in both versions. For a hunk, they are those of its first lines. 0 means that the
	// version lacks the line.
	Old, New int
	// OldCount and NewCount are a hunk's numbers of lines in both versions.
	OldCount, NewCount int
}

// Lines reads a patch line by line.
func Lines(text string) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		r := reader{}
		for raw := range strings.Lines(text) {
			if !yield(r.read(raw)) {
				return
			}
		}
	}
}

// reader holds the parser's position in a patch.
type reader struct {
	file    *File
	parents int   // number of old versions in the hunk: 1, or more in a merge's diff
	left    []int // remaining lines of the hunk, for each old version and the new one
	at      []int // the numbers of the next lines, in the same order
}

func (r *reader) read(raw string) Line {
	line := Line{File: r.file, Raw: raw, Text: strings.TrimSuffix(raw, "\n")}
	if r.inHunk() && r.readHunkLine(&line) {
		return line
	}
	switch {
	case r.file != nil && r.parents > 0 && strings.HasPrefix(raw, `\`):
		line.Kind = Note
	case r.startFile(line.Text):
		line.Kind, line.File = Heading, r.file
	case r.file == nil:
	case r.startHunk(&line):
		line.Kind = Hunk
	default:
		line.Kind = Heading
		r.file.readHeading(line.Text)
	}
	return line
}

func (r *reader) inHunk() bool {
	for _, n := range r.left {
		if n > 0 {
			return true
		}
	}
	return false
}

// readHunkLine parses a line by its signs, one per old version. It returns false for a line that cannot belong to a
// hunk, because the patch was cut there.
func (r *reader) readHunkLine(line *Line) bool {
	if strings.HasPrefix(line.Text, `\`) {
		line.Kind = Note
		return true
	}
	signs := line.Text
	if len(signs) > r.parents {
		signs = signs[:r.parents]
	}
	if strings.Trim(signs, " +-") != "" {
		return false
	}
	line.Text = line.Text[len(signs):]
	removed, added := strings.Contains(signs, "-"), strings.Contains(signs, "+")
	last := r.parents // the new version
	switch {
	case removed:
		line.Kind = Removed
	case added:
		line.Kind = Added
	default:
		line.Kind = Kept
	}
	if !removed {
		line.New = r.at[last]
		r.at[last]++
		r.left[last]--
	}
	for i := range r.parents {
		sign := byte(' ') // an empty line may have lost its blank
		if i < len(signs) {
			sign = signs[i]
		}
		if removed && sign == '-' || !removed && sign == ' ' {
			if i == 0 {
				line.Old = r.at[0]
			}
			r.at[i]++
			r.left[i]--
		}
	}
	return true
}

// startFile starts a file if the line is a file's first heading, and reports whether it is.
func (r *reader) startFile(text string) bool {
	for _, begin := range []string{"diff --git ", "diff --cc ", "diff --combined "} {
		names, ok := strings.CutPrefix(text, begin)
		if !ok {
			continue
		}
		r.file = &File{}
		r.parents = 0
		r.left = nil
		r.at = nil
		if begin == "diff --git " {
			r.file.Old, r.file.New = splitNames(names)
		} else {
			r.file.Old, r.file.New = unquote(names), unquote(names)
		}
		return true
	}
	return false
}

// startHunk starts a hunk: @@ -a,b +c,d @@, with one more @ and range for each further old version. It reports
// whether the line is a hunk's head.
func (r *reader) startHunk(line *Line) bool {
	marks := len(line.Text) - len(strings.TrimLeft(line.Text, "@"))
	if marks < 2 {
		return false
	}
	ranges, _, ok := strings.Cut(line.Text[marks:], strings.Repeat("@", marks))
	fields := strings.Fields(ranges)
	if !ok || len(fields) != marks {
		return false
	}
	at, left := make([]int, marks), make([]int, marks)
	for i, f := range fields {
		sign := "-"
		if i == marks-1 {
			sign = "+"
		}
		numbers, signed := strings.CutPrefix(f, sign)
		first, count, counted := strings.Cut(numbers, ",")
		var err1, err2 error
		at[i], err1 = strconv.Atoi(first)
		left[i] = 1
		if counted {
			left[i], err2 = strconv.Atoi(count)
		}
		if !signed || err1 != nil || err2 != nil || at[i] < 0 || left[i] < 0 {
			return false
		}
	}
	r.parents = marks - 1
	r.at = at
	r.left = left
	line.Old = at[0]
	line.New = at[marks-1]
	line.OldCount = left[0]
	line.NewCount = left[marks-1]
	return true
}

// readHeading reads a file's names from one of its headings.
func (f *File) readHeading(text string) {
	const nothing = "/dev/null"
	for _, h := range []struct {
		begin  string
		name   *string
		prefix string
	}{{"--- ", &f.Old, "a/"}, {"+++ ", &f.New, "b/"}, {"rename from ", &f.Old, ""}, {"rename to ", &f.New, ""},
		{"copy from ", &f.Old, ""}, {"copy to ", &f.New, ""}} {
		name, ok := strings.CutPrefix(text, h.begin)
		if !ok {
			continue
		}
		if name == nothing {
			*h.name = ""
			return
		}
		// Git appends a tab to a name with blanks.
		*h.name = strings.TrimPrefix(unquote(strings.TrimSuffix(name, "\t")), h.prefix)
		return
	}
	switch {
	case strings.HasPrefix(text, "new file mode "):
		f.Old = ""
	case strings.HasPrefix(text, "deleted file mode "):
		f.New = ""
	}
}

// splitNames parses the names in "diff --git a/x b/x". Unquoted names are equal, except for a rename, which has its
// own headings.
func splitNames(names string) (from, to string) {
	if strings.HasPrefix(names, `"`) || strings.HasSuffix(names, `"`) {
		first, rest := names, ""
		if quoted, err := strconv.QuotedPrefix(names); err == nil {
			first, rest = quoted, strings.TrimPrefix(names[len(quoted):], " ")
		} else if i := strings.Index(names, ` "`); i >= 0 {
			first, rest = names[:i], names[i+1:]
		}
		return strings.TrimPrefix(unquote(first), "a/"), strings.TrimPrefix(unquote(rest), "b/")
	}
	half := len(names) / 2
	if len(names)%2 == 1 && names[half] == ' ' &&
		strings.TrimPrefix(names[:half], "a/") == strings.TrimPrefix(names[half+1:], "b/") {
		return strings.TrimPrefix(names[:half], "a/"), strings.TrimPrefix(names[half+1:], "b/")
	}
	from, to, _ = strings.Cut(names, " b/")
	return strings.TrimPrefix(from, "a/"), to
}

// unquote decodes a name as git writes it. Names with non-ASCII or control characters are in quotes with C escapes.
func unquote(name string) string {
	if !strings.HasPrefix(name, `"`) {
		return name
	}
	if s, err := strconv.Unquote(name); err == nil {
		return s
	}
	return name
}
