// SPDX-License-Identifier: Apache-2.0
// Makes the pages nicer, and is needed for nothing: forms and links go without a full
// reload, lists are found while somebody types, the parts of the body can be pointed at,
// and the code of a magic link does not stay in the address.
'use strict';

(() => {
  const typingPause = 250; // milliseconds

  // focusOn moves the focus to where somebody goes on: to what is wrong, to what was
  // found, or to the question.
  const focusOn = (main) => {
    const target = main.querySelector('#problems') || main.querySelector('[data-next]') || main.querySelector('h1') || main;
    target.tabIndex = -1;
    target.focus();
  };

  // show puts another page in the place of this one. The parts that pages differ in are
  // what is in the body.
  const show = (page) => {
    document.title = page.title;
    document.documentElement.lang = page.documentElement.lang;
    document.body.className = page.body.className;
    document.body.replaceChildren(...page.body.childNodes);
  };

  // load fetches a page; it is null where the browser had better load it itself.
  const load = async (url, options) => {
    const response = await fetch(url, {...options, credentials: 'same-origin'});
    if (!(response.headers.get('Content-Type') || '').startsWith('text/html')) {
      return null;
    }
    return {url: response.url, page: new DOMParser().parseFromString(await response.text(), 'text/html')};
  };

  const posting = (form, submitter) => ({method: 'POST', body: new URLSearchParams(new FormData(form, submitter))});

  // submit has the browser send a form, with the button that was pressed.
  const submit = (form, submitter) => {
    if (submitter?.name) {
      const pressed = document.createElement('input');
      Object.assign(pressed, {type: 'hidden', name: submitter.name, value: submitter.value});
      form.append(pressed);
    }
    form.submit();
  };

  let busy = false;
  let shown = location.pathname + location.search; // which page is there
  // go does what a link or a form is for, and leaves it to the browser where that fails.
  const go = async (url, options, otherwise) => {
    if (busy) {
      return;
    }
    busy = true;
    document.body.setAttribute('aria-busy', 'true');
    try {
      const loaded = await load(url, options);
      if (!loaded) {
        otherwise();
        return;
      }
      const knew = document.getElementById('crisis');
      show(loaded.page);
      if (loaded.url !== location.href) {
        history.pushState(null, '', loaded.url);
      }
      shown = location.pathname + location.search;
      scrollTo({top: 0, behavior: 'instant'});
      focusOn(document.getElementById('main'));
      if (!knew && document.getElementById('crisis')) { // it stands before what has the focus
        document.activeElement.setAttribute('aria-describedby', 'crisis');
      }
    } catch {
      otherwise();
    } finally {
      busy = false;
      document.body.removeAttribute('aria-busy');
    }
  };

  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (form.method !== 'post') {
      return;
    }
    event.preventDefault();
    go(form.action, posting(form, event.submitter), () => submit(form, event.submitter));
  });

  document.addEventListener('click', (event) => {
    const area = event.target.closest('[data-region]');
    if (area) {
      event.preventDefault();
      document.getElementById('region-' + area.dataset.region)?.click();
      return;
    }
    const link = event.target.closest('main a[href^="/survey/"]');
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      go(link.href, {}, () => location.assign(link.href));
    }
  });

  let typing;
  // find looks up what is typed, and shows it without moving anything else.
  const find = async (input) => {
    const typed = input.value;
    const body = new URLSearchParams(new FormData(input.form));
    body.set('do', 'find');
    body.delete('words');
    const loaded = await load(input.form.action, {method: 'POST', body}).catch(() => null);
    const found = loaded?.page.getElementById('found');
    if (found && input.isConnected && input.value === typed) {
      document.getElementById('found').replaceChildren(...found.childNodes);
      input.form.elements.looked.value = typed;
    }
  };

  document.addEventListener('input', (event) => {
    if (event.target.id === 'phrase') {
      clearTimeout(typing);
      typing = setTimeout(find, typingPause, event.target);
    }
  });

  // Other pages are loaded anew where somebody goes back to them; places in this one, as
  // the fields that a problem links to, are not.
  addEventListener('popstate', () => {
    if (location.pathname + location.search !== shown) {
      location.reload();
    }
  });

  if (new URLSearchParams(location.search).has('magicCode')) {
    history.replaceState(null, '', location.pathname);
    shown = location.pathname;
  }
  if (document.getElementById('problems')) {
    focusOn(document.getElementById('main'));
  }
})();
