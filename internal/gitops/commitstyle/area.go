package commitstyle

import (
	"path"
	"slices"
	"strings"

	"company/internal/lib/lazyregexp"
)

// mostPaths limits the files of a change that are examined.
const mostPaths = 1000

// mostFolders limits the innermost folders of a path that are examined.
const mostFolders = 10

// placesOf returns the possible names for a file's place, outermost first: each of its folders alone and with
// surrounding ones, the file without its extension, its name, and its path.
func placesOf(p string) []string {
	var out []string
	dir := path.Dir(p)
	if dir != "." {
		parts := strings.Split(dir, "/")
		parts = parts[max(0, len(parts)-mostFolders):]
		for end := 1; end <= len(parts); end++ {
			for begin := range end {
				out = append(out, strings.Join(parts[begin:end], "/"))
			}
		}
	}
	base := path.Base(p)
	return append(out, strings.TrimSuffix(base, path.Ext(base)), base, p)
}

// isPlaceOf reports whether an area names the place of one of the files.
func isPlaceOf(area string, paths []string) bool {
	return slices.ContainsFunc(paths, func(p string) bool { return rankPlace(p, area) >= 0 })
}

// rankPlace returns the position of an area among the places of a file, or -1.
func rankPlace(p, area string) int {
	return slices.IndexFunc(placesOf(p), func(place string) bool { return strings.EqualFold(place, area) })
}

// withoutTests returns the files that are not tests or docs, or all files if there are no others.
func withoutTests(paths []string) []string {
	out := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return isTest(p) || isDocs(p) })
	if len(out) == 0 {
		return paths
	}
	return out
}

// findArea returns the log's area that contains most of the files, and at least half of them. Of several it returns
// the innermost. It returns "" if there is none.
func (s Style) findArea(paths []string) string {
	paths = withoutTests(paths)
	paths = paths[:min(len(paths), mostPaths)]
	ranks := make([]map[string]int, len(paths)) // by path: its places, in lower case
	for i, p := range paths {
		ranks[i] = map[string]int{}
		for rank, place := range placesOf(p) {
			if place = strings.ToLower(place); ranks[i][place] == 0 {
				ranks[i][place] = rank + 1
			}
		}
	}
	best, limit, deepest := "", 0, -1
	for area, times := range s.areas {
		covered, depth := 0, 0
		for i := range paths {
			if rank := ranks[i][strings.ToLower(area)]; rank > 0 {
				covered++
				depth += rank - 1
			}
		}
		switch {
		case covered == 0 || 2*covered < len(paths) || covered < limit:
			continue
		case covered > limit, depth > deepest,
			depth == deepest && (times > s.areas[best] || times == s.areas[best] && area < best):
			best, limit, deepest = area, covered, depth
		}
	}
	return best
}

// roots are folders whose names do not describe their content.
var roots = []string{"src", "lib", "internal", "pkg", "cmd", "app", "main", "java", "packages", "crates"}

// nameRE matches names that may precede a subject's text, because file names may contain any character.
var nameRE = lazyregexp.New(`^[\w.+@/-]{1,40}$`)

// nameArea returns guessArea if that is valid as a prefix, else "".
func (s Style) nameArea(paths []string) string {
	if area := s.guessArea(paths); nameRE.MatchString(area) {
		return area
	}
	return ""
}

// guessArea returns findArea, or else a name for the files' place in the style of the log. It returns "" if the files
// have no common place.
func (s Style) guessArea(paths []string) string {
	if area := s.findArea(paths); area != "" {
		return area
	}
	paths = withoutTests(paths)
	if len(paths) == 0 {
		return ""
	}
	dir := path.Dir(strings.TrimLeft(paths[0], "/"))
	for _, p := range paths[1:] {
		for dir != "." && !strings.HasPrefix(p, dir+"/") {
			dir = path.Dir(dir)
		}
	}
	base := path.Base(dir)
	switch {
	case dir != "." && s.slashes:
		return dir
	case dir != "." && !slices.Contains(roots, base):
		return base
	case len(paths) == 1:
		base = path.Base(paths[0])
		return strings.TrimPrefix(strings.TrimSuffix(base, path.Ext(base)), ".")
	}
	return ""
}
