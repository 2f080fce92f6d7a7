package patch

import (
	"iter"
	"strconv"
	"strings"
)

// Kind is what a line of a patch is.
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

// File is one file of a patch. Its fields are complete at its first hunk, or at the
// next file.
type File struct {
	Old, New string // paths; empty where that version has no such file

}

// Path is the file's path: the new one, or that of a deleted file.
func (f *File) Path() string {
	if f.New == "" {
		return f.Old
	}
	return f.New
}

// Line is one line of a patch.
type Line struct {
	Kind Kind
	File *File  // nil outside of files
	Raw  string // as it stands in the patch, with its end
	Text string // without its end, and in hunks without its sign
	// Old and New are the line's numbers in both versions; of a hunk, those of its
	// first lines. 0 means that the version does not have the line.
	Old, New int
	// OldCount and NewCount are how many lines of both versions a hunk shows.
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

// reader is how far a patch is read.
type reader struct {
	file    *File
	parents int   // old versions of the hunk: 1, or more in a diff of a merge
	left    []int // lines of the hunk that are still to come, of each old version and the new one
	at      []int // the numbers of the next lines, likewise
}

func (r *reader) read(raw string) Line {
	l := Line{File: r.file, Raw: raw, Text: strings.TrimSuffix(raw, "\n")}
	if r.inHunk() && r.readHunkLine(&l) {
		return l
	}
	switch {
	case r.file != nil && r.parents > 0 && strings.HasPrefix(raw, `\`):
		l.Kind = Note
	case r.startFile(l.Text):
		l.Kind, l.File = Heading, r.file
	case r.file == nil:
	case r.startHunk(&l):
		l.Kind = Hunk
	default:
		l.Kind = Heading
		r.file.readHeading(l.Text)
	}
	return l
}

func (r *reader) inHunk() bool {
	for _, n := range r.left {
		if n > 0 {
			return true
		}
	}
	return false
}

// readHunkLine reads a line by its signs, one for each old version. It reports false
// for a line that cannot be of a hunk: the patch was cut there.
func (r *reader) readHunkLine(l *Line) bool {
	if strings.HasPrefix(l.Text, `\`) {
		l.Kind = Note
		return true
	}
	signs := l.Text
	if len(signs) > r.parents {
		signs = signs[:r.parents]
	}
	if strings.Trim(signs, " +-") != "" {
		return false
	}
	l.Text = l.Text[len(signs):]
	removed, added := strings.Contains(signs, "-"), strings.Contains(signs, "+")
	last := r.parents // the new version
	switch {
	case removed:
		l.Kind = Removed
	case added:
		l.Kind = Added
	default:
		l.Kind = Kept
	}
	if !removed {
		l.New = r.at[last]
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
				l.Old = r.at[0]
			}
			r.at[i]++
			r.left[i]--
		}
	}
	return true
}

// startFile begins a file where a line is its first heading.
func (r *reader) startFile(text string) bool {
	for _, begin := range []string{"diff --git ", "diff --cc ", "diff --combined "} {
		names, ok := strings.CutPrefix(text, begin)
		if !ok {
			continue
		}
		r.file = &File{}
		r.parents, r.left, r.at = 0, nil, nil
		if begin == "diff --git " {
			r.file.Old, r.file.New = splitNames(names)
		} else {
			r.file.Old, r.file.New = unquote(names), unquote(names)
		}
		return true
	}
	return false
}

// startHunk begins a hunk: @@ -a,b +c,d @@, with one more @ and one more range for each
// further old version.
func (r *reader) startHunk(l *Line) bool {
	marks := len(l.Text) - len(strings.TrimLeft(l.Text, "@"))
	if marks < 2 {
		return false
	}
	ranges, _, ok := strings.Cut(l.Text[marks:], strings.Repeat("@", marks))
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
	r.parents, r.at, r.left = marks-1, at, left
	l.Old, l.New, l.OldCount, l.NewCount = at[0], at[marks-1], left[0], left[marks-1]
	return true
}

// readHeading takes the names of a file from one of its headings.
func (f *File) readHeading(text string) {
	const nothing = "/dev/null"
	for _, h := range []struct {
		begin  string
		name   *string
		prefix string
	}{{"--- ", &f.Old, "a/"}, {"+++ ", &f.New, "b/"}, {"rename from ", &f.Old, ""}, {"rename to ", &f.New, ""}, {"copy from ", &f.Old, ""}, {"copy to ", &f.New, ""}} {
		name, ok := strings.CutPrefix(text, h.begin)
		if !ok {
			continue
		}
		if name == nothing {
			*h.name = ""
			return
		}
		// Git writes a tab behind a name with blanks.
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

// splitNames reads the names of "diff --git a/x b/x". Unquoted ones are the same but for
// a rename, which has headings of its own.
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
	if len(names)%2 == 1 && names[half] == ' ' && strings.TrimPrefix(names[:half], "a/") == strings.TrimPrefix(names[half+1:], "b/") {
		return strings.TrimPrefix(names[:half], "a/"), strings.TrimPrefix(names[half+1:], "b/")
	}
	from, to, _ = strings.Cut(names, " b/")
	return strings.TrimPrefix(from, "a/"), to
}

// unquote reads a name as git writes it: in quotes, with escapes of C, where it holds
// other characters than ASCII's.
func unquote(name string) string {
	if !strings.HasPrefix(name, `"`) {
		return name
	}
	if s, err := strconv.Unquote(name); err == nil {
		return s
	}
	return name
}
