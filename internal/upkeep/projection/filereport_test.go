package projection

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"company/internal/company"
)

// Why a file is not written is told without the names of what was tried.
func TestWhyUnwritten(t *testing.T) {
	for want, err := range map[string]error{
		"": nil,
		"no space left on the disk": fmt.Errorf(
			"write x: %w", &fs.PathError{Op: "write", Path: "/a/.x.tmp", Err: syscall.ENOSPC}),
		"is a directory": errors.Join(&fs.PathError{Op: "rename", Path: "/a/.x.tmp", Err: syscall.EISDIR}),
		"odd":            errors.New("odd"),
		"it is a symbolic link": fmt.Errorf(
			"write x: %w", company.E(company.EConfig, "refused: /a/x").Because("it is a symbolic link")),
		"file exists": &os.LinkError{Op: "rename", Old: "/a/.x", New: "/a/x", Err: syscall.EEXIST},
	} {
		if got := whyUnwritten(err); got != want || strings.Contains(got, "/") {
			t.Errorf("%v: %q", err, got)
		}
	}
}
