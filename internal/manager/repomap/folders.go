package repomap

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"company/internal/lib/safetext"
)

// Limits of the list of folders.
const (
	mostFolders   = 120     // folders that are listed
	largeShare    = 20      // a folder with more than 1/largeShare of all files is opened
	mostFolderDoc = 5 << 10 // bytes of the folders with their docs, if an instruction fits files
)

// folder counts the files of a folder, including those of subfolders that are not listed.
type folder struct {
	path  string
	files int
	bytes int64
	doc   string
	below bool // includes files of subfolders
}

// listFolders folds the tree at the largest depth with few enough folders. It then opens folders that hold a
// large share of all files.
func (r *Map) listFolders() []folder {
	var folders map[string]*folder
	depth := 12
	for ; depth >= 0; depth-- {
		if folders = r.foldAt(depth, nil); len(folders) <= mostFolders {
			break
		}
	}
	opened := map[string]bool{}
	for len(opened) < mostFolders && len(folders) <= mostFolders {
		largest := ""
		for p, f := range folders {
			if f.below && f.files*largeShare > len(r.entries) && !opened[p] &&
				(largest == "" || f.files > folders[largest].files || f.files == folders[largest].files && p < largest) {
				largest = p
			}
		}
		if largest == "" {
			break
		}
		opened[largest] = true
		if more := r.foldAt(depth, opened); len(more) <= mostFolders {
			folders = more
		} else {
			folders[largest].below = true
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

// foldAt counts the files of each folder down to a depth, and one level deeper below opened folders.
func (r *Map) foldAt(depth int, opened map[string]bool) map[string]*folder {
	folders := map[string]*folder{}
	for _, entry := range r.entries {
		if dataFolderOf(entry.Path) != "" {
			continue
		}
		dir := path.Dir(entry.Path)
		parts := strings.Split(dir, "/")
		n := min(depth+1, len(parts))
		at := strings.Join(parts[:n], "/")
		for ; n < len(parts) && opened[at]; n++ {
			at += "/" + parts[n]
		}
		f := folders[at]
		if f == nil {
			f = &folder{path: at}
			folders[at] = f
		}
		f.files++
		f.bytes += entry.Size
		f.below = f.below || at != dir
		if f.doc == "" && at == dir {
			f.doc = r.docOf(entry.Path)
		}
	}
	return folders
}

// writeFolders lists the folders with counts, sizes and docs of their packages, up to a size limit. matched
// holds the folders of files that fit an instruction. They get longer docs.
func (r *Map) writeFolders(b *strings.Builder, matched map[string]bool) {
	b.WriteString("\nFolders (files in them, size):\n")
	folders := r.listFolders()
	all := len(folders)
	if all > mostFolders {
		slices.SortStableFunc(folders, func(x, y folder) int { return y.files - x.files })
		folders = folders[:mostFolders]
		slices.SortFunc(folders, func(x, y folder) int { return strings.Compare(x.path, y.path) })
	}
	lines := describeFolders(folders, matched)
	size := 0
	for i, l := range lines {
		if size += len(l); size > mostListing {
			lines = lines[:i]
			break
		}
	}
	b.WriteString(strings.Join(lines, ""))
	if n := all - len(lines); n > 0 {
		fmt.Fprintf(b, "- and %d more\n", n)
	}
	data := folder{path: "test data in other folders"}
	for _, entry := range r.entries {
		if dataFolderOf(entry.Path) != "" {
			data.files, data.bytes = data.files+1, data.bytes+entry.Size
		}
	}
	if data.files > 0 {
		b.WriteString(data.writeLine(0))
	}
}

// describeFolders returns the lines of folders. If they exceed the limit, docs are cut, first those of folders
// without a matched file.
func describeFolders(folders []folder, matched map[string]bool) []string {
	limit := mostListing
	if len(matched) > 0 {
		limit = mostFolderDoc
	}
	var lines []string
	for _, longest := range [][2]int{{longestDoc, longestDoc}, {longestDoc, longestDoc / 2},
		{longestDoc / 2, longestDoc / 3}, {longestDoc / 2, 0}, {longestDoc / 3, 0}, {0, 0}} {
		lines = lines[:0]
		size := 0
		for _, f := range folders {
			own := longest[1]
			if len(matched) == 0 || matched[f.path] {
				own = longest[0]
			}
			l := f.writeLine(own)
			lines, size = append(lines, l), size+len(l)
		}
		if size <= limit {
			break
		}
	}
	return lines
}

// writeLine returns the line of a folder, with at most longest bytes of its doc.
func (f folder) writeLine(longest int) string {
	below, doc := "", ""
	if f.below {
		below = "/**"
	}
	if longest > 0 && f.doc != "" {
		doc = ": " + cutDoc(f.doc, longest)
	}
	return fmt.Sprintf("- %s%s (%d, %s)%s\n", safetext.EscapeLine(f.path, mostPath), below, f.files,
		sizeText(f.bytes), doc)
}

// cutDoc keeps at most longest bytes of a doc's sentence. It cuts at the end of a clause if that leaves enough,
// otherwise at a space.
func cutDoc(doc string, longest int) string {
	if len(doc) <= longest {
		return doc
	}
	head := safetext.Head(doc, longest)
	for i := len(head) - 2; i > longest/3; i-- {
		if strings.IndexByte(",;:.)", head[i]) >= 0 && head[i+1] == ' ' {
			doc = strings.TrimRight(head[:i+1], ",;:.")
			if index := strings.LastIndex(doc, " ("); index > longest/3 && !strings.Contains(doc[index:], ")") {
				doc = doc[:index]
			}
			return doc
		}
	}
	return safetext.CutBetweenWords(doc, longest)
}
