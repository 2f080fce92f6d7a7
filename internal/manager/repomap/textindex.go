package repomap

// textIndex maps terms to the files whose text mentions them.
type textIndex struct {
	files map[string][]int32 // by term: indexes in paths, ascending
	paths []string
	pairs int
}

// mostPairs limits the pairs of a term and a file in an index.
const mostPairs = 1 << 21

// addFile adds the names that a file mentions.
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

// findFiles returns for each file the indexes of the asked terms in its text.
func (x *textIndex) findFiles(terms []asked) map[string][]int {
	out := map[string][]int{}
	for i, a := range terms {
		for _, at := range x.files[a.term] {
			out[x.paths[at]] = append(out[x.paths[at]], i)
		}
	}
	return out
}
