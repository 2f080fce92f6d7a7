package delivery

import (
	"context"
	"path"
	"strings"

	"company/internal/company"
	"company/internal/forge"
	"company/internal/gitops"
)

// templatePlaces lists the places where a kind of forge looks for the template of a pull request, the first one first,
// without case and ending. A page of the office is for any forge.
var templatePlaces = map[string][]string{
	"github": {".github/" + templateName, templateName, "docs/" + templateName},
	"gitea": {templateName, ".forgejo/" + templateName, ".gitea/" + templateName, ".github/" + templateName,
		"docs/" + templateName},
	forge.LocalKind: {".github/" + templateName, templateName, "docs/" + templateName,
		".gitlab/merge_request_templates/default", ".azuredevops/" + templateName, ".forgejo/" + templateName,
		".gitea/" + templateName},
}

const templateName = "pull_request_template"

// readTemplate returns the text of the template for pull requests in a commit, or "" if there is none. Of a folder of
// templates, which people choose from, it takes the one named default, or the only one.
func readTemplate(ctx context.Context, mirror *gitops.Mirror, at company.OID, kind string) (string, error) {
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
	for _, place := range templatePlaces[kind] {
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
