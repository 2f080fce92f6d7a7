package delivery

import (
	"context"
	"path"
	"strings"

	"company/internal/company"
	"company/internal/gitops"
)

// readTemplate returns the text of the template for pull requests in a commit, or "" if there is none. places are those
// of forge.Forge. Of a folder of templates, which people choose from, it takes the one named default, or the only one.
func readTemplate(ctx context.Context, mirror *gitops.Mirror, at company.OID, places []string) (string, error) {
	entries, err := mirror.List(ctx, at)
	if err != nil {
		return "", err
	}
	files, folders := map[string]string{}, map[string][]string{} // paths by place
	for _, entry := range entries {
		place := strings.ToLower(entry.Path)
		ending := path.Ext(place)
		if entry.Mode == gitops.ModeFile && (ending == ".md" || ending == ".txt" || ending == "") {
			place = strings.TrimSuffix(place, ending)
			files[place] = entry.Path
			folders[path.Dir(place)] = append(folders[path.Dir(place)], entry.Path)
		}
	}
	for _, place := range places {
		found := files[place]
		if found == "" {
			found = files[place+"/default"]
		}
		if inside := folders[place]; found == "" && len(inside) == 1 {
			found = inside[0]
		}
		if found != "" {
			text, err := mirror.ReadFile(ctx, at, found)
			return string(text), err
		}
	}
	return "", nil
}
