package python

import (
	"path"
	"strings"

	"company/internal/lib/lazyregexp"
)

// isRequirements reports whether a path is that of a pip list, of requirements or of constraints. It
// ignores case, because macOS and Windows treat Requirements.txt as requirements.txt.
func isRequirements(file string) bool {
	file = strings.ToLower(file)
	stem, isText := strings.CutSuffix(path.Base(file), ".txt")
	return isText && strings.Contains(stem, "constraints") || isList(file)
}

// refusedRE matches lines for which pip and uv reject a whole list: two words of a sentence, or the line
// below a heading. It does not match a line that may be an option, a path, an address or a variable.
// maybeArchived matches a line that may name an archive, which does not count either.
var (
	refusedRE     = lazyregexp.New(`^=+$|^(?:\*|[A-Za-z0-9][A-Za-z0-9._,-]*)[ \t]+[A-Za-z0-9][^/\\:@$;\[\]]*$`)
	maybeArchived = lazyregexp.New(`\.[0-9]*[A-Za-z][A-Za-z0-9]*$`)
)

// isProse reports whether most lines of a file with the name of a list are prose. It returns false for a
// name that begins with requirements, because programs other than pip also read that file.
func isProse(file string, text []byte) bool {
	if strings.HasPrefix(strings.ToLower(path.Base(file)), "requirements") {
		return false
	}
	lines, refused := 0, 0
	for _, line := range joinLines(string(text)) {
		if line == "" {
			continue
		}
		if lines++; refusedRE.MatchString(line) && !maybeArchived.MatchString(line) {
			refused++
		}
	}
	return 2*refused > lines
}
