// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
)

// observeListWatch wraps a ListerWatcher and calls observe with the result of each list and
// of each attempt to start a watch.
func observeListWatch(source toolscache.ListerWatcher, observe func(error)) *toolscache.ListWatch {
	inner := toolscache.ToListerWatcherWithContext(source)
	return &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			list, err := inner.ListWithContext(ctx, options)
			observe(err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			events, err := inner.WatchWithContext(ctx, options)
			observe(err)
			return events, err
		},
	}
}

// handleWatchError ignores Forbidden errors, which the namespace's health reports once.
// The default handler would log them on every retry of every kind.
func handleWatchError(ctx context.Context, reflector *toolscache.Reflector, err error) {
	if !apierrors.IsForbidden(err) {
		toolscache.DefaultWatchErrorHandler(ctx, reflector, err)
	}
}
