package cli

import (
	"company/internal/company"
	"company/internal/office"
)

// hasFile says whether there is a plain file in one of an office's folders.
func hasFile(p office.Paths, dir, name string) bool {
	own, err := p.Folder(dir)
	if err != nil {
		return false
	}
	defer own.Close()
	info, err := own.Lstat(name)
	return err == nil && info.Mode().IsRegular()
}

// readRunFile reads a file of a run's folder; fs.ErrNotExist where there is
// none.
func readRunFile(p office.Paths, run company.RunID, name string, most int64) ([]byte, error) {
	runs, err := p.Folder(p.Runs)
	if err != nil {
		return nil, err
	}
	defer runs.Close()
	return runs.ReadFile(string(run)+"/"+name, most)
}
