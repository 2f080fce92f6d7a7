package image

import (
	"archive/tar"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/internal/lib/secret"
)

const canary = "s3cr3t-canary/7f+9c2e1="

// Set-up gets its variables, and nothing else does: not the image, its
// settings, its history, the log or an error (container.setup_env).
func TestSetupEnv(t *testing.T) {
	hosttest.Long(t, "TestSetupApt runs commands, TestSetupEnvLeakRefused has variables")
	be := newTestBuilder(t)
	img := be.mustEnsure(t, Request{
		Setup:    []string{`[ "${#TOKEN}" = 23 ]`, `echo "${#TOKEN} bytes" >/etc/token-note`},
		SetupEnv: map[string]secret.Value{"TOKEN": secret.New(canary)},
	})
	if out := be.mustRun(
		t, img, "cat /etc/token-note; env; ls /opt /opt/company /opt/out 2>&1 || true"); !strings.HasPrefix(
		out, "23 bytes\n") || strings.Contains(out, "TOKEN") ||
		strings.Contains(out, "errand") || strings.Contains(out, "TOOLBOX_WORKSPACE") {
		t.Errorf("%q", out)
	}
	for _, l := range img.Layers {
		tag := layerRepository + ":" + l.Kind + "-" + string(l.Key)
		if l.Key == img.Key {
			tag = img.Tag
		}
		info, err := be.unguarded.ImageInspect(newContext(t), tag)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(info)
		if err != nil || bytes.Contains(text, []byte(canary)) {
			t.Errorf("the %s layer's settings hold the value: %v", l.Kind, err)
		}
	}
	be.eachFile(t, img, func(h *tar.Header, r io.Reader) {
		if name, err := findSecret(r, map[string]secret.Value{"TOKEN": secret.New(canary)}); err != nil || name != "" {
			t.Errorf("the value is in %s: %v", h.Name, err)
		}
	})
	if text := strings.Join(be.progressLines, "\n"); strings.Contains(text, canary) {
		t.Errorf("the value was said: %q", text)
	}
}

// An image that would hold a value is refused, in whatever common form it
// lies there, and the error names the variable and the file only.
func TestSetupEnvLeakRefused(t *testing.T) {
	be := newTestBuilder(t)
	for name, c := range map[string]struct{ command, where string }{
		"as it is": {`mkdir -p /etc/app && printf 'token=%s\n' "$TOKEN" >/etc/app/rc`, "/etc/app/rc"},
		"base64":   {`printf 'user:%s' "$TOKEN" | base64 -w0 >/root/auth`, "/root/auth"},
		"a name":   {`cd /opt && mkdir "dir-$(echo "$TOKEN" | tr / _)" && touch "$(echo -n "$TOKEN" | od -An -tx1 | tr -d ' \n')"`, "/opt/(TOKEN)"},
		"the log":  {`echo "$TOKEN"; exit 3`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			req := Request{Setup: []string{c.command}, SetupEnv: map[string]secret.Value{"TOKEN": secret.New(canary)}}
			be.dropAtEnd(t, req, newBuiltBase())
			_, err := be.Ensure(newContext(t), req)
			want := "the set-up left the value of TOKEN in the image: it is in " + c.where
			if c.where == "" {
				want = "exit code 3"
			}
			requireCode(t, err, company.EImage, want)
			details := ""
			if e := (*company.Error)(nil); errors.As(err, &e) {
				details = e.Details
			}
			if text := fmt.Sprintf("%+v %#v %v %s", err, req, req, details); strings.Contains(text, canary) {
				t.Errorf("the value is in %q", text)
			}
			steps := be.ownLayers(t, req, newBuiltBase())
			if f, err := be.findImage(newContext(t), steps[0]); err != nil || f != nil {
				t.Errorf("the image was made: %v %v", f, err)
			}
		})
	}
}

// A value is found wherever it lies: across the borders of reads, at each
// place of base64, and never where it is not.
func TestFindSecret(t *testing.T) {
	env := map[string]secret.Value{"A": secret.New(canary), "SHORT": secret.New("1")}
	for _, before := range []int{0, 1, 2, 3, 1<<20 - 5, 1<<20 - 30, 3 << 20} {
		pad := strings.Repeat("x", before)
		for form, text := range map[string]string{
			"plain": pad + canary, "base64": base64.StdEncoding.EncodeToString([]byte(pad + canary + "tail")),
			"url": base64.URLEncoding.EncodeToString([]byte(pad + canary)),
		} {
			for _, r := range []io.Reader{strings.NewReader(text), iotest.DataErrReader(strings.NewReader(text))} {
				if got, err := findSecret(r, env); err != nil || got != "A" {
					t.Errorf("%s after %d bytes: %q, %v", form, before, got, err)
				}
			}
		}
		if got, err := findSecret(strings.NewReader(pad+canary[:len(canary)-1]+"11"), env); err != nil || got != "" {
			t.Errorf("found %q after %d bytes where it is not: %v", got, before, err)
		}
	}
	if _, err := findSecret(iotest.ErrReader(io.ErrUnexpectedEOF), env); err == nil {
		t.Error("a broken file counts as searched")
	}
	if got := redactSecrets("x "+canary+" y", env); strings.Contains(got, canary) || !strings.Contains(got, "(A)") {
		t.Errorf("%q", got)
	}
}
