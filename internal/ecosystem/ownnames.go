package ecosystem

import "strings"

// OwnNames is the set of names of files and folders in a tree, in the form of plainName. That form is the same for a
// file, a module and a library. A nil OwnNames is empty.
type OwnNames map[string]bool

// ReadOwnNames collects the names of all files and folders in paths.
func ReadOwnNames(paths []string) OwnNames {
	out := OwnNames{}
	for _, p := range paths {
		for part := range strings.SplitSeq(p, "/") {
			out[plainName(part)] = true
		}
	}
	return out
}

// Has reports whether a file or folder of the tree has this name.
func (o OwnNames) Has(name string) bool { return o[plainName(name)] }

// plainName returns a name in lower case, without the prefix lib and without the text after the first dot.
func plainName(name string) string {
	name, _, _ = strings.Cut(name, ".")
	return strings.ReplaceAll(strings.TrimPrefix(strings.ToLower(name), "lib"), "-", "_")
}
