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
	mostListing  = 8 << 10 // bytes of the list of files
	mostCentral  = 6 << 10 // bytes of the symbols
	mostPerFile  = 8       // symbols of one file
	mostMatched  = 9 << 9  // bytes of the files that fit an instruction
	mostHotFiles = 12      // recently changed files
	fewHotFiles  = 6       // recently changed files, if an instruction fits files
	mostPath     = 200     // bytes of a path
	mostSubject  = 72      // bytes of a commit's first line
)

// String returns the map without an instruction.
func (r *Map) String() string { return r.RenderFor("") }

// RenderFor returns the map for an agent. It has no control characters except newlines, and at most about 16
// KiB. For a large repository it lists the files that fit the instruction, or without an instruction the most
// used files.
func (r *Map) RenderFor(instruction string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d files, %s. Languages: %s. Build files: %s.\n", r.Files, sizeText(r.Bytes),
		listOrNone(r.Languages, 12), listOrNone(r.Builds, 20))
	if lines, folders := r.chooseFor(instruction); len(lines) > 0 {
		r.writeFolders(&b, folders)
		fmt.Fprintf(&b, "\nThe %s that the words of the instruction fit best, the best first, with some symbols (in "+
			"brackets: files that mention them). It is a guess from names: search for the rest.\n%s",
			company.Count(len(lines), "file"), strings.Join(lines, ""))
		r.writeRecent(&b, fewHotFiles)
	} else {
		central := r.chooseCentral()
		left := len(r.central) - len(central) // files whose symbols do not fit
		if r.isSmall() {
			central = r.writeFiles(&b, central, left)
		} else {
			r.writeFolders(&b, nil)
		}
		writeCentral(&b, central, left)
		r.writeRecent(&b, mostHotFiles)
	}
	if r.Unread > 0 {
		fmt.Fprintf(&b, "\n%d source files were not looked into: there are too many.\n", r.Unread)
	}
	return b.String()
}

// isSmall reports whether the repository is listed file by file.
func (r *Map) isSmall() bool { return len(r.foldData()) <= smallFiles }

// chooseFor returns the lines of the files that fit an instruction, and their folders. For a small repository it
// returns nil, because all its files are listed.
func (r *Map) chooseFor(instruction string) (lines []string, folders map[string]bool) {
	if r.isSmall() {
		return nil, nil
	}
	return r.chooseMatched(instruction, mostMatched)
}

// mostBrief limits the list of files for a worker, in bytes.
const mostBrief = 1 << 10

// RenderBrief lists the files of a repository for a worker that no manager briefs: all of them, folder by folder, or
// those that the words of the instruction fit best. It returns "" if there is no room for all and none fits.
func (r *Map) RenderBrief(instruction string) string {
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
			b.Reset()
			if lines, _ := r.chooseMatched(instruction, mostBrief); len(lines) > 0 {
				fmt.Fprintf(&b, "Of %d files those that the words of the instruction fit best:\n%s", r.Files,
					strings.Join(lines, ""))
			}
			break
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

// writeFiles lists all files with their sizes, and the symbols of the central ones. left is the number of other
// files with symbols. It returns the central files whose line did not fit.
func (r *Map) writeFiles(b *strings.Builder, central []centralFile, left int) []centralFile {
	switch {
	case len(central) == 0:
		b.WriteString("\nFiles:\n")
	case left > 0:
		fmt.Fprintf(b, "\nFiles, and symbols of those that others use most, %d of %d (in brackets: files that mention "+
			"them):\n", len(central), len(central)+left)
	default:
		b.WriteString("\nFiles, and their symbols (in brackets: files that mention them):\n")
	}
	size := 0 // without symbols, which have their own limit
	list := r.foldData()
	for i, listed := range list {
		doc, count := r.docOf(listed.path), ""
		if doc != "" {
			doc = ": " + doc
		}
		if listed.files > 1 {
			count = company.Count(listed.files, "file") + ", "
		}
		line := fmt.Sprintf("- %s (%s%s)%s", safetext.EscapeLine(listed.path, mostPath), count, sizeText(listed.bytes), doc)
		if size += len(line) + 1; size > mostListing {
			fmt.Fprintf(b, "- and %d more\n", len(list)-i)
			return central
		}
		b.WriteString(line)
		if i := slices.IndexFunc(central, func(f centralFile) bool { return f.path == listed.path }); i >= 0 {
			b.WriteString(" | " + central[i].nameSymbols())
			central = slices.Delete(central, i, i+1)
		}
		b.WriteString("\n")
	}
	return central
}

// docOf returns a file's doc of its package or module.
func (r *Map) docOf(path string) string {
	if doc := r.docs[path]; doc != "" {
		return safetext.EscapeLine(trimName(doc), longestDoc)
	}
	return ""
}

// trimName removes the package name from a Go doc, because the path next to it has it.
func trimName(doc string) string {
	if rest, is := strings.CutPrefix(doc, "Package "); is {
		if _, what, more := strings.Cut(rest, " "); more {
			return what
		}
	}
	return doc
}

// chooseCentral returns the files whose symbols fit, by path. Recently changed files take precedence over the
// most used ones.
func (r *Map) chooseCentral() []centralFile {
	files := slices.Clone(r.central)
	hot := map[string]bool{}
	for _, h := range r.Recent[:min(mostHotFiles, len(r.Recent))] {
		hot[h.Path] = h.Times > 1
	}
	slices.SortStableFunc(files, func(x, y centralFile) int {
		switch {
		case hot[x.path] == hot[y.path]:
			return 0
		case hot[x.path]:
			return -1
		}
		return 1
	})
	size := 0
	for i, f := range files {
		if size += len(f.writeLine()); size > mostCentral {
			files = files[:i]
			break
		}
	}
	slices.SortFunc(files, func(x, y centralFile) int { return strings.Compare(x.path, y.path) })
	return files
}

// writeCentral lists the symbols of files. left is the number of other files with symbols.
func writeCentral(b *strings.Builder, files []centralFile, left int) {
	if len(files) == 0 {
		return
	}
	if left > 0 {
		fmt.Fprintf(b, "\nSymbols of the %d files that others use most, of %d (in brackets: files that mention them):\n",
			len(files), len(files)+left)
	} else {
		b.WriteString("\nSymbols (in brackets: files that mention them):\n")
	}
	for _, f := range files {
		b.WriteString(f.writeLine())
	}
}

// writeLine returns the line of a file's symbols.
func (f centralFile) writeLine() string {
	return fmt.Sprintf("- %s: %s\n", safetext.EscapeLine(f.path, mostPath), f.nameSymbols())
}

// nameSymbols lists the most used symbols of a file.
func (f centralFile) nameSymbols() string {
	var out []string
	for _, usedSymbol := range f.symbols[:min(mostPerFile, len(f.symbols))] {
		text := usedSymbol.Kind + " " + usedSymbol.Name
		if usedSymbol.Kind == "method" {
			text = usedSymbol.Name
		}
		if usedSymbol.users > 1 {
			text += fmt.Sprintf(" (%d)", usedSymbol.users)
		}
		out = append(out, text)
	}
	if more := len(f.symbols) - mostPerFile; more > 0 {
		out = append(out, fmt.Sprintf("%d more", more))
	}
	return strings.Join(out, ", ")
}

// writeRecent lists the files that changed most often lately, with their newest change.
func (r *Map) writeRecent(b *strings.Builder, limit int) {
	if len(r.Recent) == 0 || r.Recent[0].Times < 2 {
		return
	}
	fmt.Fprintf(b, "\nChanged most in the last commits (of at most %d):\n", mostCommits)
	for _, hotFile := range r.Recent[:min(limit, len(r.Recent))] {
		fmt.Fprintf(b, "- %s: %d times, last on %s: %s\n", safetext.EscapeLine(hotFile.Path, mostPath), hotFile.Times,
			hotFile.When.Format("2006-01-02"), safetext.EscapeLine(hotFile.Subject, mostSubject))
	}
}
