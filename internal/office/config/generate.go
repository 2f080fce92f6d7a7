package config

import (
	"strings"

	"company/internal/company/glob"
)

// generateForm describes an entry of gates.generate.
const generateForm = "globs, an equals sign and a command of one line, such as internal/pb/** = make proto"

// ParseGenerate parses an entry of gates.generate: the globs of the files, and the command that generates them.
func ParseGenerate(s string) (globs []string, command string, err error) {
	paths, command, ok := strings.Cut(s, " = ")
	globs, command = strings.Fields(paths), strings.TrimSpace(command)
	if !ok || len(globs) == 0 || command == "" || strings.Contains(s, "\n") {
		return nil, "", &valueError{"has no glob or no command", generateForm}
	}
	for _, g := range globs {
		if _, err := glob.Parse(g); err != nil {
			return nil, "", &valueError{"cannot be read (" + err.Error() + ")", generateForm}
		}
	}
	return globs, command, nil
}
