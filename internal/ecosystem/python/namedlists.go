package python

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// listArgumentRE matches a requirements list in the arguments of pip, in a CI definition.
var listArgumentRE = lazyregexp.New(`(?:^|[\s"'])(?:-r|--requirement)[ =]*([A-Za-z0-9._/-]+\.(?:txt|in))`)

// maxDefinitions limits the CI definitions that are read.
const maxDefinitions = 32

// readNamedLists returns the requirements lists that tox, nox or CI install for the tests. Lists whose
// names show another purpose are left out, because CI also builds documents.
func readNamedLists(sources ecosystem.Sources) (map[string]bool, error) {
	var files []string
	for _, file := range sources.Files() {
		if isDefinition(file) && len(files) < maxDefinitions {
			files = append(files, file)
		}
	}
	texts, err := sources.ReadTexts(files)
	if err != nil {
		return nil, err
	}
	named := map[string]bool{}
	for file, text := range texts {
		if len(text) > ecosystem.MaxManifest {
			continue
		}
		dir, lists := path.Dir(file), []string(nil)
		switch path.Base(file) {
		case "tox.ini":
			lists = readToxFile(string(text)).wish.lists
		case "noxfile.py":
			lists = readNoxFile(string(text)).wish.lists
		default:
			dir = "."
			for _, m := range listArgumentRE.FindAllStringSubmatch(string(text), -1) {
				lists = append(lists, m[1])
			}
		}
		for _, list := range lists {
			if at := path.Join(dir, list); filepath.IsLocal(at) && rankList(at) != listOfOthers {
				named[at] = true
			}
		}
	}
	return named, nil
}

// isDefinition reports whether a file may install requirements lists for the tests, by its path.
func isDefinition(file string) bool {
	dir, base := path.Split(file)
	if slices.Contains([]string{"tox.ini", "noxfile.py"}, base) {
		return ecosystem.HasOwnLocks(path.Clean(dir))
	}
	isYAML := strings.HasSuffix(base, ".yml") || strings.HasSuffix(base, ".yaml")
	return isYAML && slices.Contains([]string{".github/workflows/", ".gitea/workflows/", ".forgejo/workflows/"}, dir) ||
		dir == "" && slices.Contains([]string{".gitlab-ci.yml", ".travis.yml"}, base)
}
