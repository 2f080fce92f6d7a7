package gitops

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"company/internal/company"
	"company/internal/gitexec"
)

// WritePack writes commits with their histories, and trees, as one pack into w. Ids that
// are not in the mirror are passed over. An error of w is returned as it is.
func (m *Mirror) WritePack(ctx context.Context, ids []company.OID, w io.Writer) error {
	b, err := m.s.startBatch(ctx, m.dir, nil, false)
	if err != nil {
		return err
	}
	defer b.close()
	found, err := b.readInfos(ids)
	if err != nil {
		return err
	}
	var in strings.Builder
	for i, id := range ids {
		if id.Valid() && found[i].kind != "" {
			fmt.Fprintln(&in, id)
		}
	}
	out := &refusingWriter{w: w}
	_, err = m.s.runOK(ctx, call{
		dir: m.dir, args: []string{"pack-objects", "--revs", "--stdout", "--delta-base-offset", "-q"}, stdin: strings.NewReader(in.String()), stdout: out,
		config: []gitexec.Setting{{"pack.threads", "1"}}, limit: packLimit,
	})
	if out.err != nil {
		return out.err
	}
	return err
}

// refusingWriter remembers why its writer took no more: git shows a broken pipe alone.
type refusingWriter struct {
	w   io.Writer
	err error
}

func (r *refusingWriter) Write(p []byte) (int, error) {
	n, err := r.w.Write(p)
	if err != nil && r.err == nil {
		r.err = err
	}
	return n, err
}

// UnpackMirror makes the mirror of a project in a new store, of a pack that WritePack
// wrote. EObjects: the pack is no sound pack. The folder root is made.
func UnpackMirror(ctx context.Context, root, projectID string, pack io.Reader) error {
	if !projectRE.MatchString(projectID) {
		return company.E(company.EInvalid, fmt.Sprintf("%q is not a project id", projectID))
	}
	s, err := Open(Config{Root: root})
	if err != nil {
		return err
	}
	return s.createRepo(ctx, filepath.Join(s.root, projectID+".git"), "base", func(tmp string) error {
		_, err := s.runOK(ctx, call{dir: tmp, args: []string{"index-pack", "--stdin", "--keep=record"}, stdin: pack, limited: true, limit: packLimit})
		if err != nil && ctx.Err() == nil {
			return company.E(company.EObjects, "the objects of the record are no sound pack").Wrap(err)
		}
		return err
	})
}
