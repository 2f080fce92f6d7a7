package image

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/container/dockerapi"
	"company/internal/lib/secret"
)

// minSecretBytes is the minimum length of a value that is searched for. Shorter values occur
// everywhere and protect no data.
const minSecretBytes = 6

// searchForms returns the forms in which a value may be stored in a file: unchanged, in hex, and in
// base64 at each of the three alignments.
func searchForms(s secret.Value) [][]byte {
	v := []byte(s.Reveal())
	if len(v) < minSecretBytes {
		return nil
	}
	out := [][]byte{v, []byte(hex.EncodeToString(v))}
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 {
			text := enc.EncodeToString(append(make([]byte, shift), v...))
			// Only the characters that depend on the value alone.
			from, to := (shift*8+5)/6, (shift+len(v))*8/6
			out = append(out, []byte(text[from:to]))
		}
	}
	slices.SortFunc(out, bytes.Compare)
	return slices.CompactFunc(out, bytes.Equal)
}

// redactSecrets replaces the values in text that will be shown.
func redactSecrets(text string, env map[string]secret.Value) string {
	for name, s := range env {
		for _, t := range searchForms(s) {
			text = strings.ReplaceAll(text, string(t), "("+name+")")
		}
	}
	return text
}

// searchContainer returns an error if a changed file of a stopped container, or its name, contains a
// value. It does not search compressed files.
func (b *Builder) searchContainer(ctx context.Context, name string, env map[string]secret.Value) error {
	looked := false
	for _, s := range env {
		looked = looked || len(searchForms(s)) > 0
	}
	if !looked {
		return nil
	}
	changes, err := b.docker.ContainerDiff(ctx, name)
	if err != nil {
		return dockerapi.WrapError("ask what the set-up changed", err)
	}
	changed := map[string]bool{}
	for _, c := range changes {
		changed[cleanName(c.Path)] = true
	}
	body, err := b.docker.ContainerExport(ctx, name)
	if err != nil {
		return dockerapi.WrapError("read the files of the set-up", err)
	}
	defer body.Close()
	for tr := tar.NewReader(body); ; {
		header, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the files of the set-up: %w", err)
		}
		// A hard link may refer to a file that was changed under another name.
		if !changed[cleanName(header.Name)] && !changed[cleanName(header.Linkname)] {
			continue
		}
		found, err := findSecret(io.MultiReader(strings.NewReader(header.Name+"\n"+header.Linkname+"\n"), tr), env)
		if err != nil {
			return fmt.Errorf("read the files of the set-up: %w", err)
		}
		if found != "" {
			return company.E(company.EImage, fmt.Sprintf("the set-up left the value of %s in the image", found)).
				Because("it is in /" + redactSecrets(cleanName(header.Name), env) + ", where every worker could read it").
				Fix("remove it in container.setup, or keep it out of files; no image was created")
		}
	}
}

// findSecret reads up to the end or the first value, and returns the name of that value.
func findSecret(r io.Reader, env map[string]secret.Value) (name string, err error) {
	longest := 0
	traces := map[string][][]byte{}
	names := slices.Sorted(maps.Keys(env))
	for _, n := range names {
		traces[n] = searchForms(env[n])
		for _, t := range traces[n] {
			longest = max(longest, len(t))
		}
	}
	buf := make([]byte, 0, max(1<<20, 4*longest))
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if len(buf) == cap(buf) || err != nil {
			for _, name := range names {
				for _, t := range traces[name] {
					if bytes.Contains(buf, t) {
						return name, nil
					}
				}
			}
			// Keep the end of the buffer, which may be the start of a value.
			keep := min(len(buf), longest)
			copy(buf, buf[len(buf)-keep:])
			buf = buf[:keep]
		}
		if errors.Is(err, io.EOF) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
	}
}
