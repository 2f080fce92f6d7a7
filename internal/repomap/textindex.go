package repomap

// textIndex says which files have a term in the names that their text mentions.
type textIndex struct {
	files map[string][]int32 // by term: places in paths, rising
	paths []string
	pairs int
}

// mostPairs bounds an index: terms of files, all together.
const mostPairs = 1 << 21

// addFile takes up the names that a file mentions.
func (x *textIndex) addFile(path string, names map[string]struct{}) {
	at := int32(len(x.paths))
	x.paths = append(x.paths, path)
	for name := range names {
		for _, term := range splitTerms(name) {
			list := x.files[term]
			if len(list) > 0 && list[len(list)-1] == at || x.pairs >= mostPairs {
				continue
			}
			x.files[term] = append(list, at)
			x.pairs++
		}
	}
}

// findFiles gives the asked terms that each file has in its text, by their places in the list.
func (x *textIndex) findFiles(terms []asked) map[string][]int {
	out := map[string][]int{}
	for i, a := range terms {
		for _, at := range x.files[a.term] {
			out[x.paths[at]] = append(out[x.paths[at]], i)
		}
	}
	return out
}
