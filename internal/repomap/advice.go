package repomap

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/safetext"
)

// Advice is a file in which a repository tells people about itself. What it tells agents
// (AGENTS.md) session.ReadAdvice reads.
type Advice struct {
	Path string
	Text string // its beginning, cut behind a paragraph, with a mark where there is more
}

// adviceFiles are the files of advice at the root, with how much of each is quoted. Bytes.
// A README is for people: its beginning says what the project is about.
var adviceFiles = []struct {
	path string
	most int
}{{"README.md", 3 << 10}, {"README", 3 << 10}}

const (
	mostAdvice  = 1 << 20 // bytes; a larger file is no advice
	briefAdvice = 600     // bytes of the first paragraph that stands for the README of a large repository
	mostExample = 6       // lines of one example in a README
)

// readAdvice reads the files of advice at the root of a commit.
func readAdvice(ctx context.Context, m *gitops.Mirror, at company.OID) ([]Advice, error) {
	entries, err := m.List(ctx, at)
	if err != nil {
		return nil, err
	}
	var out []Advice
	for _, f := range adviceFiles {
		i := slices.IndexFunc(entries, func(e gitops.Entry) bool { return e.Path == f.path })
		if i < 0 || entries[i].Size >= mostAdvice || entries[i].Mode != gitops.ModeFile && entries[i].Mode != gitops.ModeExec {
			continue
		}
		text, err := m.ReadFile(ctx, at, f.path)
		if err != nil {
			return nil, err
		}
		short := shortenAdvice(f.path, string(text), f.most)
		if len(entries) > smallFiles {
			short = cutAdvice(f.path, string(text), briefAdvice, true) // the rest says little for a plan
		}
		out = append(out, Advice{f.path, short})
	}
	return out, nil
}

// shortenAdvice keeps the beginning of a file, to the end of a paragraph within so many
// bytes. A mark says from which line on the rest can be read.
func shortenAdvice(path, text string, most int) string { return cutAdvice(path, text, most, false) }

// cutAdvice keeps the beginning of a file; brief: no more than its first paragraph of prose,
// and the headings before it.
func cutAdvice(path, text string, most int, brief bool) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\r\n", "\n")
	var kept []string // lines
	size, line, next := 0, 0, 0
	end, endLine := 0, 0 // how many lines are kept up to the last whole paragraph, and where it ends in the file
	lines := strings.Split(text, "\n")
	told := false // a paragraph of prose is there
	for line < len(lines) && size <= most && (!brief || !told || end < len(kept)) {
		var piece []string
		piece, next = condenseLine(lines, line)
		for _, l := range piece {
			size += len(l) + 1
		}
		if size > most {
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
	if end == 0 { // one paragraph is longer than all that may be kept
		first := safetext.CutBetweenWords(strings.Join(lines, "\n"), most)
		return first + "\n(the rest is left out: read_file " + path + ")\n"
	}
	return strings.Join(kept[:end], "\n") + fmt.Sprintf("\n(%s more: read_file %s with offset=%d)\n", company.Count(len(lines)-endLine, "line"), path, endLine+1)
}

// isProse reports whether a line of a README is a sentence rather than a heading or markup.
func isProse(l string) bool {
	return len(strings.Fields(l)) > 2 && strings.IndexByte("#<=!|`[", strings.TrimSpace(l)[0]) < 0
}

// condenseLine takes the line of a README at a place, or what stands for it: nothing for a
// badge, one line for a long example. It returns where the next line is.
func condenseLine(lines []string, at int) (kept []string, next int) {
	l := strings.TrimSpace(lines[at])
	if strings.HasPrefix(l, "[![") || strings.HasPrefix(l, "<img") || strings.HasPrefix(l, "![") {
		return nil, at + 1
	}
	if !strings.HasPrefix(l, "```") {
		return lines[at : at+1], at + 1
	}
	for end := at + 1; end < len(lines); end++ {
		if strings.HasPrefix(strings.TrimSpace(lines[end]), "```") {
			if end-at-1 > mostExample {
				return []string{fmt.Sprintf("(an example of %d lines)", end-at-1)}, end + 1
			}
			return lines[at : end+1], end + 1
		}
	}
	return lines[at : at+1], at + 1
}
