package commitstyle

import (
	"path"
	"slices"
	"strings"

	"company/internal/lazyregexp"
)

// mostPaths bounds the files of a change whose place is looked for.
const mostPaths = 1000

// mostFolders bounds the folders of a path that are looked at, the innermost ones.
const mostFolders = 10

// placesOf are the names by which a file's place may be called, the outermost first: each of
// its folders alone and with those around it, and the file without its ending.
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

// isPlaceOf reports whether an area is the place of one of the files.
func isPlaceOf(area string, paths []string) bool {
	return slices.ContainsFunc(paths, func(p string) bool { return rankPlace(p, area) >= 0 })
}

// rankPlace is how far in an area stands among the places of a file; -1: it is none.
func rankPlace(p, area string) int {
	return slices.IndexFunc(placesOf(p), func(place string) bool { return strings.EqualFold(place, area) })
}

// withoutTests are the files beside tests and docs; all where there are no others.
func withoutTests(paths []string) []string {
	out := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return isTest(p) || isDocs(p) })
	if len(out) == 0 {
		return paths
	}
	return out
}

// findArea is the area of the log that most of the files are in, at least half of them; of
// several the innermost. Empty: there is none.
func (s Style) findArea(paths []string) string {
	paths = withoutTests(paths)
	paths = paths[:min(len(paths), mostPaths)]
	ranks := make([]map[string]int, len(paths)) // by path: its places, in small letters
	for i, p := range paths {
		ranks[i] = map[string]int{}
		for rank, place := range placesOf(p) {
			if place = strings.ToLower(place); ranks[i][place] == 0 {
				ranks[i][place] = rank + 1
			}
		}
	}
	best, most, deepest := "", 0, -1
	for area, times := range s.areas {
		covered, depth := 0, 0
		for i := range paths {
			if rank := ranks[i][strings.ToLower(area)]; rank > 0 {
				covered++
				depth += rank - 1
			}
		}
		switch {
		case covered == 0 || 2*covered < len(paths) || covered < most:
			continue
		case covered > most, depth > deepest,
			depth == deepest && (times > s.areas[best] || times == s.areas[best] && area < best):
			best, most, deepest = area, covered, depth
		}
	}
	return best
}

// roots are folders whose names do not describe their content.
var roots = []string{"src", "lib", "internal", "pkg", "cmd", "app", "main", "java", "packages", "crates"}

// nameRE is what may stand before a subject's text: file names may hold anything.
var nameRE = lazyregexp.New(`^[\w.+@/-]{1,40}$`)

// nameArea is guessArea where a name may stand before a text; empty otherwise.
func (s Style) nameArea(paths []string) string {
	if area := s.guessArea(paths); nameRE.MatchString(area) {
		return area
	}
	return ""
}

// guessArea is findArea, or a name for where the files are in the manner of the log. Empty: they
// are all over the place.
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
