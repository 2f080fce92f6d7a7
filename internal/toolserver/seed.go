package toolserver

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/toolproto"
)

// packFolder is where packs lie in the workspace.
const packFolder = ".git/objects/pack"

// handleSeed stores the packs that the host sends, as they are.
func (s *Server) handleSeed(w http.ResponseWriter, r *http.Request) {
	s.repo.mu.Lock()
	defer s.repo.mu.Unlock()
	err := s.storeSeed(r.Body)
	if err == nil {
		_, err = io.Copy(io.Discard, r.Body)
	}
	writeAnswer(w, toolproto.Empty{}, err)
}

func (s *Server) storeSeed(from io.Reader) error {
	if s.repo.branch != "" {
		return toolproto.Refuse(toolproto.KindArgument, "the workspace is prepared already, for %s", s.repo.branch)
	}
	if err := s.root.MkdirAll(packFolder, 0o755); err != nil {
		return fmt.Errorf("make the folder of packs: %w", err)
	}
	archive := tar.NewReader(from)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the history: %w", err)
		}
		if h.Typeflag != tar.TypeReg || !toolproto.IsSeedName(h.Name) {
			return toolproto.Refuse(toolproto.KindArgument, "%q is no pack", h.Name)
		}
		if err := s.storePack(packFolder+"/"+h.Name, archive); err != nil {
			return fmt.Errorf("store the history: %w", err)
		}
	}
}

func (s *Server) storePack(name string, from io.Reader) error {
	f, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}

// nameBaked answers which history the image brought along: what the branch that
// HEAD of the baked repository is on names.
func (s *Server) nameBaked(_ context.Context, r toolproto.BakedRequest) (toolproto.BakedResult, error) {
	var none toolproto.BakedResult
	head, _ := os.ReadFile(filepath.Join(r.Path, "HEAD"))
	ref, ok := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: ")
	if !ok || !filepath.IsLocal(ref) {
		return none, nil // no repository, or none of ours
	}
	if loose, err := os.ReadFile(filepath.Join(r.Path, ref)); err == nil {
		if id := strings.TrimSpace(string(loose)); oidRE.MatchString(id) {
			return toolproto.BakedResult{Commit: id}, nil
		}
	}
	packed, _ := os.ReadFile(filepath.Join(r.Path, "packed-refs"))
	for line := range strings.Lines(string(packed)) {
		if id, name, _ := strings.Cut(strings.TrimSpace(line), " "); name == ref && oidRE.MatchString(id) {
			return toolproto.BakedResult{Commit: id}, nil
		}
	}
	return none, nil
}

// packedRefs is the file of references of a clone: the branches of the origin as
// remote ones, the company's references under their own names.
func packedRefs(refs map[string]string) (string, error) {
	lines := make([]string, 0, len(refs))
	for name, id := range refs {
		if !oidRE.MatchString(id) || strings.ContainsAny(name, " \n\x00") {
			return "", toolproto.Refuse(toolproto.KindArgument, "%q at %q is no reference", name, id)
		}
		if branch, ok := strings.CutPrefix(name, "refs/heads/"); ok {
			name = "refs/remotes/origin/" + branch
		} else if !strings.HasPrefix(name, "refs/company/") {
			continue
		}
		lines = append(lines, name+" "+id)
	}
	slices.Sort(lines)
	var b strings.Builder
	b.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	for _, line := range lines {
		name, id, _ := strings.Cut(line, " ")
		b.WriteString(id + " " + name + "\n")
	}
	return b.String(), nil
}
