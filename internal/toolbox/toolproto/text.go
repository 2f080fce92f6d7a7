package toolproto

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// The Text methods format a result for a model. They do not escape: the caller must escape control and bidirectional
// characters.

// Text returns the lines with their numbers, so that the model can refer to them. The tool's description explains once
// that the numbers are not part of the file.
func (r ReadFileResult) Text() string {
	return r.layOut(true)
}

// PlainText returns the lines without numbers, for a model that edits them: numbers would find their way into the
// texts of edits. A last line gives the range, unless it is the whole file.
func (r ReadFileResult) PlainText() string {
	return r.layOut(false)
}

func (r ReadFileResult) layOut(numbered bool) string {
	if r.Binary {
		return fmt.Sprintf("%s is a binary file of %d bytes", r.Path, r.Size)
	}
	if r.TotalLines == 0 {
		return r.Path + " is empty"
	}
	var b strings.Builder
	n := r.FirstLine
	for line := range bytes.Lines(r.Content) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		if numbered {
			b.WriteString(strconv.Itoa(n) + ": ")
		}
		b.WriteString(truncateText(string(line), ReadLine) + "\n")
		n++
	}
	switch {
	case !numbered && r.Truncated:
		fmt.Fprintf(&b, "(lines %d-%d of %d; use offset=%d to continue)\n", r.FirstLine, n-1, r.TotalLines, n)
	case r.Truncated:
		fmt.Fprintf(&b, "(%d of %d lines shown; use offset=%d to continue)\n", r.Lines, r.TotalLines, n)
	case !numbered && r.FirstLine > 1:
		fmt.Fprintf(&b, "(lines %d-%d of %d)\n", r.FirstLine, n-1, r.TotalLines)
	}
	if r.Encoding != "" {
		b.WriteString("(" + r.Encoding + ")\n")
	}
	return b.String()
}

// Text lists the paths.
func (r ListFilesResult) Text() string {
	if len(r.Paths) == 0 {
		return "no files"
	}
	s := strings.Join(r.Paths, "\n") + "\n"
	if r.Truncated {
		s += fmt.Sprintf("(%d of %d shown; use a narrower glob)\n", len(r.Paths), r.Total)
	}
	return s
}

// Text returns the exit code, the duration and the output.
func (r RunResult) Text() string {
	var b strings.Builder
	took := (time.Duration(r.DurationMS) * time.Millisecond).String()
	switch {
	case r.Running:
		fmt.Fprintf(&b, "running as %s for %s\n", r.ProcessID, took)
	case r.TimedOut:
		fmt.Fprintf(&b, "timed out after %s and was killed (exit code %d)\n", took, r.ExitCode)
	default:
		fmt.Fprintf(&b, "exit code %d after %s\n", r.ExitCode, took)
	}
	if r.Note != "" {
		fmt.Fprintf(&b, "note: %s\n", r.Note)
	}
	if r.Stderr.isEmpty() && r.Note == "" { // only stdout, without a heading
		r.Stdout.write(&b, "")
	} else {
		r.Stdout.write(&b, "stdout")
		r.Stderr.write(&b, "stderr")
	}
	if r.Stdout.isEmpty() && r.Stderr.isEmpty() {
		b.WriteString("(no output)\n")
	}
	return b.String()
}

// Failure briefly describes how a command failed. It returns "" if the command succeeded or still runs.
func (r RunResult) Failure() string {
	switch {
	case r.Running:
		return ""
	case r.TimedOut:
		return "timed out after " + (time.Duration(r.DurationMS) * time.Millisecond).Round(time.Second).String()
	case r.ExitCode != 0:
		return fmt.Sprintf("exit code %d", r.ExitCode)
	}
	return ""
}

func (o Output) isEmpty() bool { return o.Head == "" && o.Tail == "" && o.Omitted == 0 }

// String returns the head and the tail, with a mark for omitted bytes.
func (o Output) String() string {
	if o.Omitted == 0 {
		return o.Head + o.Tail
	}
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", o.Head, o.Omitted, o.Tail)
}

// write writes the output, below a heading if name is not empty.
func (o Output) write(b *strings.Builder, name string) {
	if o.isEmpty() {
		return
	}
	s := o.String()
	if name != "" {
		fmt.Fprintf(b, "--- %s ---\n", name)
	}
	b.WriteString(s)
	if !strings.HasSuffix(s, "\n") {
		b.WriteByte('\n')
	}
}

// Text formats the status in git's short form.
func (r GitStatusResult) Text() string {
	var b strings.Builder
	branch := r.Branch
	branch = cmp.Or(branch, "(detached)")
	fmt.Fprintf(&b, "branch %s at %s, %d commits not pushed\n", branch, shortID(r.Head), r.Unpushed)
	if r.Clean {
		b.WriteString("nothing to commit, the work tree is clean\n")
	}
	for _, f := range r.Files {
		b.WriteString(f.String() + "\n")
	}
	if r.Truncated {
		b.WriteString("(truncated)\n")
	}
	return b.String()
}

func (f FileState) String() string {
	if f.From != "" {
		return fmt.Sprintf("%s %s -> %s", f.Status, f.From, f.Path)
	}
	return f.Status + " " + f.Path
}

// truncateText cuts s to at most n bytes, at a whole character, and adds the number of omitted bytes.
func truncateText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return fmt.Sprintf("%s [… %d bytes of this line left out]", s[:n], len(s)-n)
}

// shortID returns the first seven digits of an object id.
func shortID(id string) string { return id[:min(7, len(id))] }
