package repomap

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"company/internal/gitops"
)

// dataFolders are names of folders of test data. With true, sources in them may be the repository's own.
var dataFolders = map[string]bool{
	"testdata": false, "test-data": false, "test_data": false, "__snapshots__": false, "__fixtures__": false,
	"cassettes": false, "goldens": true, "golden": true, "fixtures": true, "snapshots": true,
}

// mostAlike is the number of files of one kind in a folder up to which each of them is listed.
const mostAlike = 9

// dataFolderOf returns the outermost folder of test data that holds a file, or "".
func dataFolderOf(file string) string {
	end := 0
	for dir := range strings.SplitSeq(path.Dir(file), "/") {
		end += len(dir) + 1
		if mixed, is := dataFolders[dir]; is && !(mixed && isSource(file)) {
			return file[:end-1]
		}
	}
	return ""
}

// isSource reports whether a file is in a programming language.
func isSource(file string) bool {
	switch languageOf(file) {
	case "", "shell", "Markdown", "YAML":
		return false
	}
	return true
}

// listedFile is a line of a list of files: a file, or many with one pattern.
type listedFile struct {
	path  string
	files int
	bytes int64
}

// foldData returns the files of a repository by path. A folder of test data is one line, and so are many files of one
// kind in a folder that are no sources.
func (r *Map) foldData() []listedFile {
	kind := func(e gitops.Entry) string { return path.Join(path.Dir(e.Path), "*"+path.Ext(e.Path)) }
	alike := map[string]int{}
	for _, e := range r.entries {
		if !isSource(e.Path) {
			alike[kind(e)]++
		}
	}
	at := map[string]int{}
	var list []listedFile
	for _, e := range r.entries {
		name := e.Path
		if folder := dataFolderOf(name); folder != "" {
			name = folder + "/**"
		} else if !isSource(name) && alike[kind(e)] > mostAlike {
			name = kind(e)
		}
		i, known := at[name]
		if !known {
			i = len(list)
			at[name] = i
			list = append(list, listedFile{path: name})
		}
		list[i].files++
		list[i].bytes += e.Size
	}
	slices.SortStableFunc(list, func(a, b listedFile) int { return cmp.Compare(a.path, b.path) })
	return list
}
