package toolserver

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/lib/blocklist"
	"company/internal/toolbox/toolproto"
)

// refuseDestructive returns the refusal, with what to do instead.
func refuseDestructive(blocked blocklist.Blocked) error {
	return toolproto.Refuse(toolproto.KindDestructive, "%s: %s is not run here, because it cannot be undone; %s",
		blocklist.DestructiveCommand, blocked.Command, blocked.Instead)
}

// refusePrograms refuses a command that starts a program outside a list. An empty list allows all. What a script or a
// Makefile starts is not seen.
func refusePrograms(started, allowed []string) error {
	i := slices.IndexFunc(started, func(program string) bool { return !slices.Contains(allowed, program) })
	if len(allowed) == 0 || i < 0 {
		return nil
	}
	fault := "it starts " + started[i]
	if started[i] == unknown {
		fault = "what it starts cannot be read from it, so write the names of programs out"
	}
	return toolproto.Refuse(toolproto.KindNotAllowed,
		"%s: %s; commands of this project may start the shell's own commands "+
			"and %s", toolproto.KindNotAllowed, fault, strings.Join(allowed, ", "))
}

// resolveFile is resolvePath for a file that a tool reads or writes. It refuses files with secrets.
func (s *Server) resolveFile(ctx context.Context, file string) (string, error) {
	rel, err := s.resolvePath(file)
	if err == nil && s.hidesSecret(ctx, rel) {
		return "", refuseSecret(file)
	}
	return rel, err
}

func refuseSecret(file string) error {
	return toolproto.Refuse(toolproto.KindSecret, "%s: %s has the name of a file with secrets, and git ignores it; set "+
		"variables for the command itself (NAME=value command), and leave such files to people",
		blocklist.SecretAccess, file)
}

// hidesSecret reports whether a file of the workspace has the name of a file with secrets and is not the repository's.
// Source that git tracks, or would add, may have any name.
func (s *Server) hidesSecret(ctx context.Context, rel string) bool {
	if !blocklist.IsSecretName(rel) {
		return false
	}
	_, err := s.runGit(ctx, nil, "check-ignore", "--quiet", "--", rel)
	return err == nil // it fails for what is not ignored
}

// refuseSecretWords refuses a command that names a file with secrets: one of the workspace, or one in the folders in
// which people keep logins. dir is the folder that the command runs in.
func (s *Server) refuseSecretWords(ctx context.Context, dir string, names []string) error {
	for _, name := range names {
		if _, err := s.root.Lstat(name); err != nil && !strings.ContainsAny(name, "./") {
			continue // a word, such as one that is searched for
		}
		place := name
		if strings.HasPrefix(name, "~/") {
			place = "/" + name
		} else if !filepath.IsAbs(name) {
			place = filepath.Join(dir, name)
		}
		rel, inside := s.localPath(place)
		if !inside && strings.HasPrefix(name, "../") { // the command may change the folder
			rel, inside = path.Base(name), true
		}
		if !inside && blocklist.InSecretFolder(name) || inside && s.hidesSecret(ctx, rel) {
			return refuseSecret(name)
		}
	}
	return nil
}
