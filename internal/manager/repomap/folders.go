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
	mostFolders = 120 // folders that are listed
	largeShare  = 20  // a folder with more than 1/largeShare of all files is opened
)

// folder counts the files of a folder, including those of subfolders that are not listed.
type folder struct {
	path  string
	files int
	bytes int64
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
	}
	return folders
}

// writeFolders lists the folders with counts and sizes, up to a size limit.
func (r *Map) writeFolders(b *strings.Builder) {
	b.WriteString("\nFolders (files in them, size):\n")
	folders := r.listFolders()
	all := len(folders)
	if all > mostFolders {
		slices.SortStableFunc(folders, func(x, y folder) int { return y.files - x.files })
		folders = folders[:mostFolders]
		slices.SortFunc(folders, func(x, y folder) int { return strings.Compare(x.path, y.path) })
	}
	size := 0
	for i, f := range folders {
		line := f.describeFolder()
		if size += len(line); size > mostListing {
			folders = folders[:i]
			break
		}
		b.WriteString(line)
	}
	if n := all - len(folders); n > 0 {
		fmt.Fprintf(b, "- and %d more\n", n)
	}
	data := folder{path: "test data in other folders"}
	for _, entry := range r.entries {
		if dataFolderOf(entry.Path) != "" {
			data.files, data.bytes = data.files+1, data.bytes+entry.Size
		}
	}
	if data.files > 0 {
		b.WriteString(data.describeFolder())
	}
}

// describeFolder returns the line of a folder.
func (f folder) describeFolder() string {
	below := ""
	if f.below {
		below = "/**"
	}
	return fmt.Sprintf("- %s%s (%d, %s)\n", safetext.EscapeLine(f.path, mostPath), below, f.files, sizeText(f.bytes))
}
