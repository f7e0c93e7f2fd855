// SPDX-License-Identifier: Apache-2.0

package page

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/page/body"
)

// A bodyView is the map of the body as it is shown to one patient.
type bodyView struct {
	Drawings []drawingView
	Regions  []regionView // with a symptom that can be the patient's
}

// A drawingView is the figure from one side.
type drawingView struct {
	body.Drawing
	Title string // the id of a text
}

type regionView struct{ ID, Name string }

// point shows the map of the body, and what is felt in the region with an id, if there is
// one.
func (h *handlers) point(d *draft, q *guidance.Question, region string) error {
	list := *q.Meta.SourceList
	felt, err := h.feltIn(list)
	if err != nil {
		return err
	}
	figure := body.FigureOf(list.Sex, list.Age.Months()/12)
	d.Body = &bodyView{Drawings: []drawingView{
		{h.body.Drawing(figure, body.Front), "body.front"}, {h.body.Drawing(figure, body.Back), "body.back"},
	}}
	for _, known := range h.body.Regions() {
		if len(felt[known.ID]) == 0 {
			continue
		}
		shown := regionView{known.ID, h.body.Name(known.ID, list.Language)}
		d.Body.Regions = append(d.Body.Regions, shown)
		if known.ID == region {
			d.Region = shown.Name
			d.offer(felt[known.ID])
		}
	}
	return nil
}

// feltIn are the symptoms of each region that a list has for a patient. A matter that no
// drawing shows is not the patient's where the most usual of it is not: that men are
// nauseous too does not make pregnancy theirs.
func (h *handlers) feltIn(list guidance.SourceList) (map[string][]guidance.Item, error) {
	var ids []string
	for _, region := range h.body.Regions() {
		ids = append(ids, region.Symptoms...)
	}
	named, err := h.Surveys.Named(list, ids)
	if err != nil {
		return nil, err
	}
	items := make(map[string]guidance.Item, len(named))
	for _, item := range named {
		items[item.ID] = item
	}
	felt := map[string][]guidance.Item{}
	for _, region := range h.body.Regions() {
		if _, usual := items[region.Symptoms[0]]; !usual && !region.Front && !region.Back {
			continue
		}
		for _, id := range region.Symptoms {
			if item, ok := items[id]; ok {
				felt[region.ID] = append(felt[region.ID], item)
			}
		}
	}
	return felt, nil
}

// offer adds items to what was found, but for those that are chosen.
func (d *draft) offer(items []guidance.Item) {
	for _, item := range items {
		if !d.has(item.ID) {
			d.Found = append(d.Found, chipOf(item))
		}
	}
}
