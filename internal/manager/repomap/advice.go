package repomap

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/lib/safetext"
)

// Advice is a file with which a repository describes itself to people. Files for agents (AGENTS.md) are read by
// agentrun.ReadAdvice.
type Advice struct {
	Path string
	Text string // its beginning, cut after a paragraph, with a note about the rest
}

// adviceFiles lists the files of advice at the root, and the number of bytes to quote. A README is for people,
// and its beginning describes the project.
var adviceFiles = []struct {
	path string
	most int
}{{"README.md", 3 << 10}, {"README", 3 << 10}}

const (
	mostAdvice  = 1 << 20 // bytes; larger files are ignored
	briefAdvice = 600     // bytes of the README's first paragraph, for a large repository
	mostExample = 6       // lines of a README's example
)

// readAdvice reads the files of advice at the root of a commit with these entries.
func readAdvice(
	ctx context.Context, mirror *gitops.Mirror, at company.OID, entries []gitops.Entry,
) ([]Advice, error) {
	var out []Advice
	for _, f := range adviceFiles {
		i := slices.IndexFunc(entries, func(e gitops.Entry) bool { return e.Path == f.path })
		if i < 0 || entries[i].Size >= mostAdvice ||
			entries[i].Mode != gitops.ModeFile && entries[i].Mode != gitops.ModeExec {
			continue
		}
		text, err := mirror.ReadFile(ctx, at, f.path)
		if err != nil {
			return nil, err
		}
		short := shortenAdvice(f.path, string(text), f.most)
		if len(entries) > smallFiles {
			short = cutAdvice(f.path, string(text), briefAdvice, true) // the rest is of little use for a plan
		}
		out = append(out, Advice{f.path, short})
	}
	return out, nil
}

// shortenAdvice keeps the beginning of a file up to the end of a paragraph within limit bytes. A note names the
// line from which to read the rest.
func shortenAdvice(path, text string, limit int) string { return cutAdvice(path, text, limit, false) }

// cutAdvice keeps the beginning of a file. With brief, it keeps at most the first paragraph of prose and the
// headings before it.
func cutAdvice(path, text string, limit int, brief bool) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\r\n", "\n")
	var kept []string // lines
	var size, line, next int
	end, endLine := 0, 0 // number of lines kept up to the last whole paragraph, and its end in the file
	lines := strings.Split(text, "\n")
	told := false // a paragraph of prose is kept
	for line < len(lines) && size <= limit && (!brief || !told || end < len(kept)) {
		var piece []string
		piece, next = condenseLine(lines, line)
		for _, l := range piece {
			size += len(l) + 1
		}
		if size > limit {
			break
		}
		for _, l := range piece {
			told = told || isProse(l)
		}
		kept = append(kept, piece...)
		line = next
		if line == len(lines) || strings.TrimSpace(lines[line]) == "" {
			end, endLine = len(kept), line
		}
	}
	if line >= len(lines) {
		return strings.Join(kept, "\n")
	}
	if end == 0 { // the first paragraph alone exceeds the limit
		first := safetext.CutBetweenWords(strings.Join(lines, "\n"), limit)
		return first + "\n(the rest is left out: read_file " + path + ")\n"
	}
	return strings.Join(kept[:end], "\n") +
		fmt.Sprintf("\n(%s more: read_file %s with offset=%d)\n", company.Count(len(lines)-endLine, "line"), path, endLine+1)
}

// isProse reports whether a line of a README is a sentence, and not a heading or markup.
func isProse(l string) bool {
	return len(strings.Fields(l)) > 2 && strings.IndexByte("#<=!|`[", strings.TrimSpace(l)[0]) < 0
}

// condenseLine returns the README line at index in condensed form: a badge is dropped, and a long example
// becomes one line. next is the index of the following line.
func condenseLine(lines []string, index int) (kept []string, next int) {
	l := strings.TrimSpace(lines[index])
	if strings.HasPrefix(l, "[![") || strings.HasPrefix(l, "<img") || strings.HasPrefix(l, "![") {
		return nil, index + 1
	}
	if !strings.HasPrefix(l, "```") {
		return lines[index : index+1], index + 1
	}
	for end := index + 1; end < len(lines); end++ {
		if strings.HasPrefix(strings.TrimSpace(lines[end]), "```") {
			if end-index-1 > mostExample {
				return []string{fmt.Sprintf("(an example of %d lines)", end-index-1)}, end + 1
			}
			return lines[index : end+1], end + 1
		}
	}
	return lines[index : index+1], index + 1
}
