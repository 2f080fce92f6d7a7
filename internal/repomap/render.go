package repomap

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"company/internal/safetext"
)

// Bounds of the text of a map.
const (
	smallFiles   = 150     // a repository of so many files is listed file by file
	mostFolders  = 120     // folders of a larger one
	mostListing  = 8 << 10 // bytes of the list of files or folders
	mostCentral  = 6 << 10 // bytes of the symbols
	mostPerFile  = 8       // symbols of one file
	mostHotFiles = 12      // files of the recent past
	mostPath     = 200     // bytes of a path
	mostSubject  = 72      // bytes of a commit's first line
)

// String is the map as an agent reads it. It has no control characters but newlines, and
// at most some 16 KiB.
func (r *Map) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d files, %s. Languages: %s. Build files: %s.\n", r.Files, sizeText(r.Bytes), listOrNone(r.Languages, 12), listOrNone(r.Builds, 20))
	central := r.chooseCentral()
	left := len(r.central) - len(central) // files whose symbols have no room
	if len(r.entries) <= smallFiles {
		central = r.writeFiles(&b, central, left)
	} else {
		r.writeFolders(&b)
	}
	writeCentral(&b, central, left)
	r.writeRecent(&b)
	if r.Unread > 0 {
		fmt.Fprintf(&b, "\n%d source files were not looked into: there are too many.\n", r.Unread)
	}
	return b.String()
}

func listOrNone(s []string, most int) string {
	if len(s) == 0 {
		return "none known"
	}
	more := ""
	if len(s) > most {
		more = fmt.Sprintf(" and %d more", len(s)-most)
	}
	shown := make([]string, 0, most)
	for _, text := range s[:min(most, len(s))] {
		shown = append(shown, safetext.EscapeLine(text, mostPath))
	}
	return strings.Join(shown, ", ") + more
}

// sizeText is a number of bytes rounded so that sizes compare at a glance: 900 B, 12 kB, 3.4 MB.
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

// writeFiles lists all files with their sizes, and the symbols of the central ones beside
// them; left is how many more have symbols. It gives the central files that have no line for
// lack of room.
func (r *Map) writeFiles(b *strings.Builder, central []centralFile, left int) []centralFile {
	switch {
	case len(central) == 0:
		b.WriteString("\nFiles:\n")
	case left > 0:
		fmt.Fprintf(b, "\nFiles, and symbols of those that others use most, %d of %d (in brackets: files that mention them):\n", len(central), len(central)+left)
	default:
		b.WriteString("\nFiles, and their symbols (in brackets: files that mention them):\n")
	}
	size := 0 // without symbols, which have a bound of their own
	for i, e := range r.entries {
		doc := r.docOf(e.Path)
		if doc != "" {
			doc = ": " + doc
		}
		line := fmt.Sprintf("- %s (%s)%s", safetext.EscapeLine(e.Path, mostPath), sizeText(e.Size), doc)
		if size += len(line) + 1; size > mostListing {
			fmt.Fprintf(b, "- and %d more\n", len(r.entries)-i)
			return central
		}
		b.WriteString(line)
		if i := slices.IndexFunc(central, func(f centralFile) bool { return f.path == e.Path }); i >= 0 {
			b.WriteString(" | " + central[i].nameSymbols())
			central = slices.Delete(central, i, i+1)
		}
		b.WriteString("\n")
	}
	return central
}

// docOf is what a file says of its package or module.
func (r *Map) docOf(path string) string {
	if doc := r.docs[path]; doc != "" {
		return safetext.EscapeLine(trimName(doc), longestDoc)
	}
	return ""
}

// trimName takes the name of a package of Go off its doc: the path beside it has it.
func trimName(doc string) string {
	if rest, is := strings.CutPrefix(doc, "Package "); is {
		if _, what, more := strings.Cut(rest, " "); more {
			return what
		}
	}
	return doc
}

// folder is a folder with what lies in it, or below it where its own folders are not listed.
type folder struct {
	path  string
	files int
	bytes int64
	doc   string
	below bool // files of folders below it are counted here
}

// listFolders folds the tree to the depth at which there are few enough folders.
func (r *Map) listFolders() []folder {
	var folders map[string]*folder
	for depth := 12; depth >= 0; depth-- {
		folders = map[string]*folder{}
		for _, e := range r.entries {
			dir := path.Dir(e.Path)
			parts := strings.Split(dir, "/")
			at := strings.Join(parts[:min(depth+1, len(parts))], "/")
			f := folders[at]
			if f == nil {
				f = &folder{path: at}
				folders[at] = f
			}
			f.files++
			f.bytes += e.Size
			f.below = f.below || at != dir
			if f.doc == "" && at == dir {
				f.doc = r.docOf(e.Path)
			}
		}
		if len(folders) <= mostFolders {
			break
		}
	}
	out := make([]folder, 0, len(folders))
	for _, f := range folders {
		out = append(out, *f)
	}
	slices.SortFunc(out, func(a, b folder) int { return strings.Compare(a.path, b.path) })
	return out
}

// writeFolders lists the folders with counts, sizes and what their packages say of
// themselves. Where all do not fit, those with the least in them are left out.
func (r *Map) writeFolders(b *strings.Builder) {
	b.WriteString("\nFolders (files in them, size):\n")
	folders := r.listFolders()
	all := len(folders)
	if all > mostFolders {
		slices.SortStableFunc(folders, func(x, y folder) int { return y.files - x.files })
		folders = folders[:mostFolders]
		slices.SortFunc(folders, func(x, y folder) int { return strings.Compare(x.path, y.path) })
	}
	lines, size := folderLines(folders, longestDoc)
	for _, longest := range []int{longestDoc / 2, longestDoc / 3, 0} {
		if size > mostListing {
			lines, size = folderLines(folders, longest)
		}
	}
	for size > mostListing {
		size -= len(lines[len(lines)-1])
		lines = lines[:len(lines)-1]
	}
	b.WriteString(strings.Join(lines, ""))
	if n := all - len(lines); n > 0 {
		fmt.Fprintf(b, "- and %d more\n", n)
	}
}

// folderLines are the lines of folders, with so many bytes of what documents each.
func folderLines(folders []folder, longest int) (lines []string, size int) {
	for _, f := range folders {
		below, doc := "", ""
		if f.below {
			below = "/**"
		}
		if longest > 0 && f.doc != "" {
			doc = ": " + safetext.CutBetweenWords(f.doc, longest)
		}
		line := fmt.Sprintf("- %s%s (%d, %s)%s\n", safetext.EscapeLine(f.path, mostPath), below, f.files, sizeText(f.bytes), doc)
		lines, size = append(lines, line), size+len(line)
	}
	return lines, size
}

// chooseCentral gives the files whose symbols have room, by path. Files that changed most
// lately go before files that others use most.
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

// writeCentral lists the symbols of files; left is how many more have symbols.
func writeCentral(b *strings.Builder, files []centralFile, left int) {
	if len(files) == 0 {
		return
	}
	if left > 0 {
		fmt.Fprintf(b, "\nSymbols of the %d files that others use most, of %d (in brackets: files that mention them):\n", len(files), len(files)+left)
	} else {
		b.WriteString("\nSymbols (in brackets: files that mention them):\n")
	}
	for _, f := range files {
		b.WriteString(f.writeLine())
	}
}

// writeLine is the line of a file's symbols.
func (f centralFile) writeLine() string {
	return fmt.Sprintf("- %s: %s\n", safetext.EscapeLine(f.path, mostPath), f.nameSymbols())
}

// nameSymbols lists the most used symbols of a file.
func (f centralFile) nameSymbols() string {
	var out []string
	for _, s := range f.symbols {
		text := s.Kind + " " + s.Name
		if s.Kind == "method" {
			text = s.Name
		}
		if s.users > 1 {
			text += fmt.Sprintf(" (%d)", s.users)
		}
		out = append(out, text)
	}
	if f.more > 0 {
		out = append(out, fmt.Sprintf("%d more", f.more))
	}
	return strings.Join(out, ", ")
}

// writeRecent lists what changed most often lately, with the newest change.
func (r *Map) writeRecent(b *strings.Builder) {
	if len(r.Recent) == 0 || r.Recent[0].Times < 2 {
		return
	}
	fmt.Fprintf(b, "\nChanged most in the last commits (of at most %d):\n", mostCommits)
	for _, h := range r.Recent[:min(mostHotFiles, len(r.Recent))] {
		fmt.Fprintf(b, "- %s: %d times, last on %s: %s\n", safetext.EscapeLine(h.Path, mostPath), h.Times, h.When.Format("2006-01-02"), safetext.EscapeLine(h.Subject, mostSubject))
	}
}
