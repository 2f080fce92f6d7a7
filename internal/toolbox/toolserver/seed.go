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

	"company/internal/toolbox/toolproto"
)

// packFolder is the folder of packs in the workspace.
const packFolder = ".git/objects/pack"

// handleSeed stores the packs that the host sends, without changes.
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
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the history: %w", err)
		}
		if header.Typeflag != tar.TypeReg || !toolproto.IsSeedName(header.Name) {
			return toolproto.Refuse(toolproto.KindArgument, "%q is no pack", header.Name)
		}
		if err := s.storePack(packFolder+"/"+header.Name, archive); err != nil {
			return fmt.Errorf("store the history: %w", err)
		}
	}
}

func (s *Server) storePack(name string, from io.Reader) error {
	file, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	return errors.Join(err, file.Close())
}

// nameBaked returns the commit of the history in the image: that of HEAD's branch in the baked repository.
func (s *Server) nameBaked(_ context.Context, bakedRequest toolproto.BakedRequest) (toolproto.BakedResult, error) {
	var none toolproto.BakedResult
	head, _ := os.ReadFile(filepath.Join(bakedRequest.Path, "HEAD"))
	ref, ok := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: ")
	if !ok || !filepath.IsLocal(ref) {
		return none, nil // not a repository, or not one of ours
	}
	if loose, err := os.ReadFile(filepath.Join(bakedRequest.Path, ref)); err == nil {
		if id := strings.TrimSpace(string(loose)); oidRE.MatchString(id) {
			return toolproto.BakedResult{Commit: id}, nil
		}
	}
	packed, _ := os.ReadFile(filepath.Join(bakedRequest.Path, "packed-refs"))
	for line := range strings.Lines(string(packed)) {
		if id, name, _ := strings.Cut(strings.TrimSpace(line), " "); name == ref && oidRE.MatchString(id) {
			return toolproto.BakedResult{Commit: id}, nil
		}
	}
	return none, nil
}

// packedRefs returns the packed-refs file of a clone. Origin's branches become remote-tracking references, and the
// company's references keep their names.
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
