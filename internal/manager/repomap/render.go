package repomap

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// Limits of the text of a map.
const (
	smallFiles   = 150     // files up to which a repository is listed file by file
	mostListing  = 8 << 10 // bytes of the list of files or folders
	mostBrief    = 1 << 10 // bytes of the list of files for a worker
	mostHotFiles = 12      // recently changed files
	mostPath     = 200     // bytes of a path
	mostSubject  = 72      // bytes of a commit's first line
)

// String returns the map for an agent. It has no control characters except newlines, and at most about 12 KiB.
func (r *Map) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d files, %s. Languages: %s. Build files: %s.\n", r.Files, sizeText(r.Bytes),
		listOrNone(r.Languages, 12), listOrNone(r.Builds, 20))
	if list := r.foldData(); len(list) <= smallFiles {
		writeFiles(&b, list)
	} else {
		r.writeFolders(&b)
	}
	r.writeRecent(&b)
	return b.String()
}

// RenderBrief lists the files of a repository folder by folder, for a worker that no manager briefs. It returns "" if
// there is no room for all.
func (r *Map) RenderBrief() string {
	list := r.foldData()
	slices.SortStableFunc(list, func(a, b listedFile) int { return strings.Compare(path.Dir(a.path), path.Dir(b.path)) })
	var b strings.Builder
	for i, listed := range list {
		dir, name := path.Dir(listed.path), safetext.EscapeLine(path.Base(listed.path), mostPath)
		if i > 0 && dir == path.Dir(list[i-1].path) {
			name = ", " + name
		} else {
			name = "\n" + safetext.EscapeLine(dir, mostPath) + ": " + name
		}
		if b.WriteString(name); b.Len() > mostBrief {
			return ""
		}
	}
	return strings.TrimPrefix(b.String(), "\n")
}

func listOrNone(s []string, limit int) string {
	if len(s) == 0 {
		return "none known"
	}
	more := ""
	if len(s) > limit {
		more = fmt.Sprintf(" and %d more", len(s)-limit)
	}
	shown := make([]string, 0, limit)
	for _, text := range s[:min(limit, len(s))] {
		shown = append(shown, safetext.EscapeLine(text, mostPath))
	}
	return strings.Join(shown, ", ") + more
}

// sizeText formats a number of bytes with few digits, so that sizes are easy to compare: 900 B, 12 kB, 3.4 MB.
func sizeText(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 10_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	case n < 1_000_000:
		return fmt.Sprintf("%d kB", n/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// writeFiles lists files with their sizes.
func writeFiles(b *strings.Builder, list []listedFile) {
	b.WriteString("\nFiles:\n")
	size := 0
	for i, listed := range list {
		count := ""
		if listed.files > 1 {
			count = company.Count(listed.files, "file") + ", "
		}
		line := fmt.Sprintf("- %s (%s%s)\n", safetext.EscapeLine(listed.path, mostPath), count, sizeText(listed.bytes))
		if size += len(line); size > mostListing {
			fmt.Fprintf(b, "- and %d more\n", len(list)-i)
			return
		}
		b.WriteString(line)
	}
}

// writeRecent lists the files that changed most often lately, with their newest change.
func (r *Map) writeRecent(b *strings.Builder) {
	if len(r.Recent) == 0 || r.Recent[0].Times < 2 {
		return
	}
	fmt.Fprintf(b, "\nChanged most in the last commits (of at most %d):\n", mostCommits)
	for _, hotFile := range r.Recent[:min(mostHotFiles, len(r.Recent))] {
		fmt.Fprintf(b, "- %s: %d times, last on %s: %s\n", safetext.EscapeLine(hotFile.Path, mostPath), hotFile.Times,
			hotFile.When.Format("2006-01-02"), safetext.EscapeLine(hotFile.Subject, mostSubject))
	}
}
