"""The console in a browser: what an analyst does, by keys alone, in both themes, without an error.

    test_console.py PROGRAM FOLDER      FOLDER: where axe-core is, and where pictures of failures go
"""

import base64
import glob
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

PROGRAM, FOLDER = sys.argv[1:3]
HERE = os.path.dirname(os.path.abspath(__file__))
VIEWS = ['orbit', 'top', 'side', 'barrel']
WAIT_SECONDS = 30

# The largest allowed mean difference between two pictures, for channels of 0 to 255. Another version
# of the browser draws edges and fonts a little differently, which gives a smaller difference. A body
# that is missing or elsewhere gives a larger one.
TOLERANCE = 6.0

# Draws two pictures on a small canvas. Calls `done` with their mean difference, and with the small
# copy of the first picture.
COMPARE = """
const [one, other, done] = arguments;
const load = (data) => new Promise((resolve) => {
  const image = new Image();
  image.onload = () => resolve(image);
  image.src = `data:image/png;base64,${data}`;
});
Promise.all([load(one), load(other)]).then((images) => {
  const [a, b] = images.map((image) => {
    const canvas = document.createElement('canvas');
    Object.assign(canvas, { width: 128, height: 80 });
    const context = canvas.getContext('2d');
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, 128, 80);
    return { pixels: context.getImageData(0, 0, 128, 80).data, small: canvas.toDataURL() };
  });
  const sum = a.pixels.reduce((total, value, i) => total + Math.abs(value - b.pixels[i]), 0);
  done([(sum / a.pixels.length) * (4 / 3), a.small.split(',')[1]]);
});
"""


class Running:
    """A service on free ports, with a folder for its data."""

    def __init__(self, data, *more):
        self.process = subprocess.Popen(
            [PROGRAM, 'serve', '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0', '--queue-ms', '0',
             '--drain-wait-seconds', '0', '--log-level', 'error', '--data', data, *more],
            stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.data, self.admin = re.search(r'data=(\S+) admin=(\S+)', line).groups()

    def stop(self):
        self.process.terminate()
        self.process.wait(60)
        self.process.stdout.close()


    def send(self, method, path, body):
        request = urllib.request.Request(self.data + path, json.dumps(body).encode() if body else None, {'Content-Type': 'application/json'},
                                         method=method)
        with urllib.request.urlopen(request, timeout=WAIT_SECONDS) as answer:
            return json.load(answer)

    def open_duel(self, match, ruleset, metre):
        """A match where s aims at t, 5 m away. `metre`: its length in the unit of the ruleset."""
        self.send('PUT', f'/v1/matches/{match}', {'ruleset': ruleset})
        frames = [{'time': 10 + i / 20, 'players': [
            {'player': 's', 'position': [0, 0, 0], 'aim': [1, 0, 0], 'weapon': 'rifle'},
            {'player': 't', 'position': [5 * metre, 0, 0], 'weapon': 'rifle'}]} for i in range(21)]
        self.send('POST', f'/v1/matches/{match}/frames', {'frames': frames})

    def post_moves(self, match, speeds):
        """Four seconds of moves. `speeds`: of the clock of each player; 1 is honest. Returns the answer."""
        moves = [{'player': name, 'seq': i, 'client_time': 10 + i / 60 * speed, 'received': 10 + i / 60,
                  'ack': 10 + i / 60 - 0.05} for i in range(1, 240) for name, speed in speeds.items()]
        return self.send('POST', f'/v1/matches/{match}/moves', {'moves': moves})

    def post_hits(self, match, metre, aside, count=1, at=11, shooter='s'):
        """Hits of the shooter that pass t at this distance. Returns their results."""
        hits = [{'shot': shot, 'shooter': shooter, 'target': 't', 'hit_time': at, 'start': [0, 0, 1.6 * metre],
                 'end': [5 * metre, aside * metre, (1.6 + shot / 100) * metre]} for shot in range(count)]
        return self.send('POST', f'/v1/matches/{match}/hits', {'now': at + 0.05, 'hits': hits})['results']


def open_browser(downloads):
    options = webdriver.ChromeOptions()
    options.binary_location = '/usr/bin/chromium'
    for argument in ['--headless=new', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
                     '--hide-scrollbars', '--force-device-scale-factor=1']:
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument('--no-sandbox')
    options.add_experimental_option('prefs', {'download.default_directory': downloads})
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL'})
    return webdriver.Chrome(service=Service('/usr/bin/chromedriver'), options=options)


class Console(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        data = os.path.join(cls.folder.name, 'data')
        cls.recording = os.path.join(cls.folder.name, 'demo.stream')
        subprocess.run([PROGRAM, 'demo', '--data', data, '--keep', cls.recording], check=True, stdout=subprocess.DEVNULL)
        cls.service = Running(data)
        cls.browser = open_browser(cls.folder.name)
        cls.browser.set_script_timeout(60)

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        cls.service.stop()
        cls.folder.cleanup()

    def setUp(self):
        self.expected_failures = 0
        self.look('light', 1280, 900)
        self.browser.get_log('browser')

    def tearDown(self):
        """Neither errors of scripts nor violations of the policy: the browser logs both."""
        self.browser.save_screenshot(os.path.join(FOLDER, f'{self.id().split(".")[-1]}.png'))
        errors = [entry['message'] for entry in self.browser.get_log('browser') if entry['level'] in ('SEVERE', 'WARNING')]
        self.assertEqual(len(errors), self.expected_failures, errors)

    # ---- helpers ----

    def look(self, theme, width, height):
        self.browser.execute_cdp_cmd('Emulation.setEmulatedMedia', {'features': [
            {'name': 'prefers-color-scheme', 'value': theme}, {'name': 'prefers-reduced-motion', 'value': 'reduce'}]})
        self.browser.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {
            'width': width, 'height': height, 'deviceScaleFactor': 1, 'mobile': False})

    def go(self, place, selector, base=None):
        self.browser.get('about:blank')
        self.browser.get(f'{base or self.service.admin}/console/{place}')
        return self.wait(selector)

    def wait(self, selector):
        return WebDriverWait(self.browser, WAIT_SECONDS).until(
            lambda browser: browser.find_elements(By.CSS_SELECTOR, selector))[0]

    def until(self, condition):
        return WebDriverWait(self.browser, WAIT_SECONDS).until(lambda browser: condition())

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def texts(self, selector):
        return self.browser.execute_script(
            'return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)', selector)

    def press(self, *keys):
        for key in keys:
            self.browser.switch_to.active_element.send_keys(key)

    def focused(self):
        return self.browser.execute_script('return document.activeElement.outerHTML.slice(0, 200)')

    def verdict_id(self, reason):
        answer = self.fetch(f'/v1/verdicts?limit=1000&reason={reason}')
        return answer['verdicts'][-1]['verdict_id']

    def fetch(self, path):
        return self.browser.execute_async_script(
            'const [path, done] = arguments; fetch(path).then((answer) => answer.json()).then(done);', path)

    def open_verdict(self, reason='no_intersection'):
        self.go('#/verdicts', '.list tbody tr')
        self.go(f'#/verdicts/{self.verdict_id(reason)}', '.charts figure:last-child')

    def open_match_verdict(self, match):
        """Opens the newest verdict of a match, once it is stored."""
        self.go('#/verdicts', '.list tbody tr')
        stored = self.until(lambda: self.fetch(f'/v1/verdicts?match={match}')['verdicts'])
        self.go(f'#/verdicts/{stored[0]["verdict_id"]}', '.charts figure:last-child')

    def difference(self, one, other):
        return self.browser.execute_async_script(COMPARE, one, other)

    # ---- the list ----

    def test_filters(self):
        self.go('#/verdicts', '.list tbody tr')
        Select(self.wait('[name=reason]')).select_by_value('no_intersection')
        self.until(lambda: set(self.texts('.list tbody td:nth-child(3)')) == {'Missed the body'})
        player = self.wait('[name=player]')
        player.send_keys('bob', Keys.ENTER)
        self.until(lambda: set(self.texts('.list tbody td:nth-child(6)')) == {'bob'})
        self.assertIn('reason=no_intersection', self.browser.current_url)
        self.assertIn('player=bob', self.browser.current_url)
        self.wait('.filters a.button').click()
        self.until(lambda: len(set(self.texts('.list tbody td:nth-child(3)'))) > 3)

    def test_no_match(self):
        self.go('#/verdicts?player=nobody', '.summary')
        self.until(lambda: 'No stored verdict' in self.wait('.summary').text)

    def test_older_pages(self):
        self.go('#/verdicts', '.list tbody tr')
        self.assertEqual(len(self.all('.list tbody tr')), 100)
        self.press('o')
        self.until(lambda: len(self.all('.list tbody tr')) == 200)
        ids = self.browser.execute_script("return [...document.querySelectorAll('.list tr[data-id]')].map((row) => row.dataset.id)")
        self.assertEqual(len(set(ids)), 200)

    def test_keys_alone(self):
        self.go('#/verdicts', '.list tbody tr')
        rows = [row.get_attribute('data-id') for row in self.all('.list tbody tr')[:3]]
        self.press('j', 'j', 'j', 'k')
        self.press(Keys.ENTER)
        self.until(lambda: self.browser.current_url.endswith(rows[1]))
        self.wait('.charts figure:last-child')
        self.press('b')
        self.wait('.list tbody tr')
        self.press('/')
        self.assertIn('name="player"', self.focused())
        self.press('alice', Keys.ENTER)
        self.until(lambda: set(self.texts('.list tbody td:nth-child(6)')) == {'alice'})
        self.until(lambda: 'name="player"' in self.focused())
        self.press(Keys.ESCAPE)
        self.press('?')
        self.wait('dialog[open]')
        self.press(Keys.ESCAPE)
        self.until(lambda: not self.all('dialog'))
        self.press('g', 'h')
        self.wait('.health .tiles')

    def test_focus_is_visible_everywhere(self):
        self.open_verdict()
        self.browser.execute_script('document.activeElement.blur()')
        seen = 0
        for _ in range(60):
            self.press(Keys.TAB)
            outline = self.browser.execute_script(
                'const one = document.activeElement; return one === document.body ? "end" : getComputedStyle(one).outlineStyle')
            if outline == 'end':
                break
            self.assertNotEqual(outline, 'none', self.focused())
            seen += 1
        self.assertGreater(seen, 15)

    def test_list_is_live(self):
        self.go('#/verdicts?match=live', '.summary')
        subprocess.run([PROGRAM, 'play', self.recording, '--url', self.service.data, '--match', 'live'],
                       check=True, stdout=subprocess.DEVNULL)
        self.until(lambda: len(self.all('.list tbody tr')) > 50)
        self.go('#/matches/live', '.matches table')
        self.assertIn('judy', self.texts('.matches tbody td:first-child'))

    # ---- a verdict ----

    def test_verdict_says_why(self):
        self.open_verdict()
        self.assertRegex(self.wait('h1').text, r'^The shot passed [\d.]+ m away from \w+ at the moment that \w+ saw\.$')
        deciding = self.wait('.check-row.deciding').text
        self.assertIn('Touches the body', deciding)
        self.assertRegex(deciding, r'[\d.]+ m')
        self.assertTrue(any(text.startswith('missed by') for text in self.texts('.label')))
        self.assertEqual(len(self.all('.check-row.deciding')), 1)
        self.assertGreater(len(self.all('.check-row.pass')), 8)
        self.assertEqual(len(self.all('.charts figure')), 5)

    def test_every_reason_has_a_page(self):
        for reason in ['occluded_world', 'origin_mismatch', 'rewind_limit', 'time_in_future', 'wrong_target', 'ok']:
            self.open_verdict(reason)
            self.assertGreater(len(self.wait('h1').text), 20)
            self.assertGreater(len(self.texts('.label')), 1)

    def test_every_scenario_is_drawn(self):
        # Claims without a path, without a target, or outside the world have a page, too.
        service = Running(os.path.join(self.folder.name, 'scenarios'), '--evidence-sample', '1')
        try:
            for file in sorted(glob.glob(os.path.join(HERE, '..', 'scenarios', '*.json'))):
                subprocess.run([PROGRAM, 'play', file, '--url', service.data], check=False,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.go('#/verdicts', '.list tbody tr', base=service.admin)
            kinds = {}
            for one in self.fetch('/v1/verdicts?limit=1000')['verdicts']:
                kinds[one['kind'], one['reason']] = one['verdict_id']
            self.assertGreater(len(kinds), 40)
            for kind, verdict in kinds.items():
                is_move = kind[0] == 'move'
                self.go(f'#/verdicts/{verdict}', '.facts' if is_move else '.charts figure:last-child', base=service.admin)
                self.assertEqual(len(self.all('.stage canvas')), 0 if is_move else 1, kind)
                text = self.wait('main').text
                self.assertNotRegex(text, r'\b(NaN|undefined|Infinity)\b|\[object', kind)
                self.assertRegex(self.wait('h1').text, r'\.$', kind)
        finally:
            service.stop()

    def test_views(self):
        self.open_verdict()
        pictures = {}
        for key, view in enumerate(VIEWS, 1):
            self.press(str(key))
            self.until(lambda: self.wait(f'[data-view={view}]').get_attribute('aria-pressed') == 'true')
            pictures[view] = self.wait('.stage').screenshot_as_base64
            path = os.path.join(HERE, 'pictures', f'{view}.png')
            if os.environ.get('HS_WRITE_PICTURES'):
                small = self.difference(pictures[view], pictures[view])[1]
                with open(path, 'wb') as file:
                    file.write(base64.b64decode(small))
            with open(path, 'rb') as file:
                wanted = base64.b64encode(file.read()).decode()
            self.assertLess(self.difference(pictures[view], wanted)[0], TOLERANCE, view)
        for i, one in enumerate(VIEWS):
            for other in VIEWS[:i]:
                self.assertGreater(self.difference(pictures[one], pictures[other])[0], TOLERANCE, (one, other))

    def test_pictures_of_the_pages(self):
        # The hit that README.md draws. HS_WRITE_PICTURES=1 writes the pictures of docs/images.
        folder = os.path.join(HERE, '..', '..', 'docs', 'images') if os.environ.get('HS_WRITE_PICTURES') else FOLDER
        self.look('light', 1200, 480)
        self.go('#/verdicts', '.list tbody tr')
        self.browser.save_screenshot(os.path.join(folder, 'list.png'))
        hits = self.fetch('/v1/verdicts?player=bob&target=alice&reason=no_intersection')['verdicts']
        hit = min(hits, key=lambda one: abs(one['measured'] - 1.1))
        self.look('light', 1200, 720)
        self.go(f'#/verdicts/{hit["verdict_id"]}', '.charts figure:last-child')
        self.assertEqual(self.wait('h1').text, 'The shot passed 1.1 m away from alice at the moment that bob saw.')
        self.browser.save_screenshot(os.path.join(folder, 'verdict.png'))
        self.press('4')
        self.until(lambda: self.wait('[data-view=barrel]').get_attribute('aria-pressed') == 'true')
        self.wait('.stage').screenshot(os.path.join(folder, 'barrel.png'))

    def test_limit_of_an_unknown_outcome(self):
        # The gap between the newest frame and the hit is too long, so the limit is a maximum.
        self.service.open_duel('gap', 'metres', 1)
        self.assertEqual(self.service.post_hits('gap', 1, 0, at=11.4)[0]['reason'], 'history_gap')
        self.open_match_verdict('gap')
        rows = self.texts('.check-row.unknown .limit')
        self.assertGreater(len(rows), 0)
        for row in rows:
            self.assertRegex(row, r'^(max .*)?$')
        self.assertTrue(any(rows))

    def test_views_in_every_unit(self):
        # In every unit of length, the bodies fill the same part of the picture.
        pictures = {}
        for ruleset, metre in [('metres', 1), ('centimetres', 100), ('inches', 100 / 2.54)]:
            self.service.open_duel(ruleset, ruleset, metre)
            self.assertEqual(self.service.post_hits(ruleset, metre, 1)[0]['reason'], 'no_intersection')
            self.open_match_verdict(ruleset)
            self.assertIn('missed by', ' '.join(self.texts('.label')))
            for key, view in enumerate(VIEWS, 1):
                self.press(str(key))
                self.until(lambda: self.wait(f'[data-view={view}]').get_attribute('aria-pressed') == 'true')
                picture = self.wait('.stage').screenshot_as_base64
                self.assertLess(self.difference(picture, pictures.setdefault(view, picture))[0], TOLERANCE, (ruleset, view))

    def test_picture_turns_by_keys(self):
        self.open_verdict()
        before = self.wait('.stage').screenshot_as_base64
        canvas = self.wait('.stage canvas')
        canvas.send_keys(Keys.ARROW_LEFT, Keys.ARROW_LEFT, Keys.ARROW_UP, '+')
        self.assertGreater(self.difference(before, self.wait('.stage').screenshot_as_base64)[0], 1)

    def test_time(self):
        self.open_verdict()
        output = self.wait('.timeline output')
        before = self.wait('.stage').screenshot_as_base64
        self.assertEqual(output.text, 'the claimed moment')
        self.press(Keys.ARROW_LEFT, Keys.ARROW_LEFT, Keys.ARROW_LEFT)
        self.assertRegex(output.text, r'^\d+ ms before it$')
        self.assertGreater(self.difference(before, self.wait('.stage').screenshot_as_base64)[0], 0.2)
        self.press('0')
        self.assertEqual(output.text, 'the claimed moment')
        self.assertLess(self.difference(before, self.wait('.stage').screenshot_as_base64)[0], 0.1)
        self.press(' ')
        self.until(lambda: output.text != 'the claimed moment')
        self.press(' ')
        stopped = output.text
        time.sleep(0.5)
        self.assertEqual(output.text, stopped)

    def test_review(self):
        self.open_verdict('wrong_target')
        self.press('r')
        self.press(' ')
        self.wait('#note').send_keys('<img src=x onerror=alert(1)> aims at walls')
        self.wait('[name=by]').clear()
        self.wait('[name=by]').send_keys('analyst')
        self.press(Keys.ENTER)
        self.until(lambda: self.texts('.reviews li b') == ['Cheat'])
        self.assertIn('<img src=x onerror=alert(1)> aims at walls', self.texts('.reviews li p'))
        self.assertEqual(len(self.all('.reviews img')), 0)
        address = self.browser.current_url
        self.go(address[address.index('#'):], '.reviews li')
        self.go('#/rulesets', '.rulesets table')
        row = [text for text in self.texts('.rulesets tbody tr') if text.startswith('Hit somebody else')]
        self.assertRegex(row[0], r'100 %$')

    def test_permalink(self):
        self.open_verdict()
        address, sentence = self.browser.current_url, self.wait('h1').text
        self.go(address[address.index('#'):], '.check-row.deciding')
        self.assertEqual(self.wait('h1').text, sentence)

    def test_download_is_the_evidence(self):
        self.open_verdict()
        self.press('d')
        pattern = os.path.join(self.folder.name, 'verdict-*.stream')
        self.until(lambda: glob.glob(pattern))
        recheck = subprocess.run([PROGRAM, 'recheck', glob.glob(pattern)[0]], capture_output=True, text=True, check=False)
        self.assertEqual(recheck.returncode, 0, recheck.stdout + recheck.stderr)

    def test_unknown_verdict(self):
        self.go('#/verdicts/none', '.notice.bad')
        self.expected_failures = 1  # the browser logs the 404

    # ---- the other pages ----

    def test_player(self):
        self.go('#/players', '.players table')
        self.wait('input[name=player]').send_keys('bob', Keys.ENTER)
        self.wait('.players .tile')
        self.assertIn('Missed the body', self.texts('.players td a'))
        self.wait('.players canvas')

    def test_match_that_ended(self):
        self.open_verdict()
        match = self.browser.find_element(By.CSS_SELECTOR, '.head a[href^="#/matches/"]')
        target = self.browser.find_element(By.CSS_SELECTOR, '.head a[href^="#/players/"]:nth-of-type(2)')
        self.assertTrue(target.text)
        name = match.text
        match.click()
        self.until(lambda: 'has ended' in ''.join(self.texts('.notice')))
        self.assertNotIn('PUT', self.wait('main').text)
        self.wait('.notice a').click()
        self.until(lambda: set(self.texts('.list tbody td:nth-child(9)')) == {name})
        self.expected_failures = 1  # the browser logs the 404

    def test_match_without_frames_has_no_clock(self):
        self.service.send('PUT', '/v1/matches/not-started', {'ruleset': 'metres'})
        self.go('#/matches/not-started', '.matches .tile')
        self.assertIn('–Match clock', self.texts('.tile'))
        self.go('#/matches', '.matches tbody tr')
        names = self.texts('.matches tbody td:nth-child(1)')
        self.assertEqual(self.texts('.matches tbody td:nth-child(6)')[names.index('not-started')], '')
        self.service.send('DELETE', '/v1/matches/not-started', None)

    def test_match_shows_clocks(self):
        # The clock of s runs twice as fast as the server's, and its acks prove this.
        self.service.open_duel('clocks', 'metres', 1)
        self.service.post_hits('clocks', 1, 1)
        answer = self.service.post_moves('clocks', {'s': 2, 't': 1})
        self.assertIn('fast_clock_proven', json.dumps(answer))
        self.go('#/matches/clocks', '[aria-label="Moves of the players"]')
        rows = self.texts('[aria-label="Moves of the players"] tbody tr')
        self.assertRegex(rows[0], r'^s Clock proven fast\d')
        self.assertRegex(rows[0], r'Clock proven fast \d+$')
        self.assertNotIn('proven', rows[1])
        first = self.texts('[aria-label="Players of the match"] tbody tr')[0]
        self.assertRegex(first, 'Clock proven fast [\\d.]+')
        self.assertRegex(first, 'Touches the body [\\d.]+')

    # After its match has ended, a verdict still shows which of five causes it has.

    def end(self, match):
        self.service.send('DELETE', f'/v1/matches/{match}', None)
        self.go('#/verdicts', '.list tbody tr')
        self.until(lambda: self.fetch(f'/v1/summaries?match={match}&kind=match')['summaries'])

    def show_reason(self, match, reason):
        """Opens the newest stored verdict with a reason. Returns the notices at its head."""
        stored = self.until(lambda: self.fetch(f'/v1/verdicts?match={match}&reason={reason}')['verdicts'])
        self.go(f'#/verdicts/{stored[0]["verdict_id"]}', '[aria-label="Everybody in this match"]')
        return ' '.join(self.texts('.head .notice'))

    def facts(self, title):
        return dict(zip(self.texts(f'[aria-label="{title}"] dt'), self.texts(f'[aria-label="{title}"] dd')))

    def test_wall_shots_after_the_match(self):
        # The shooter has a bad connection, too, but that explains no shot through a wall.
        self.go('#/verdicts', '.list tbody tr')
        text = self.show_reason('demo', 'occluded_world')
        self.assertRegex(text, r'^Only heidi has this reason: \d+ of their \d+ claims')
        self.assertNotIn('unstable', text)

    def test_fast_clock_after_the_match(self):
        self.service.open_duel('sped', 'metres', 1)
        self.service.post_moves('sped', {'s': 2, 't': 1})
        self.end('sped')
        self.assertIn('clock of s is proven', self.show_reason('sped', 'fast_clock_proven'))
        self.assertRegex(self.wait('h1').text, r'^The clock of s is [\d.]+ m?s ahead of what the snapshots')
        self.assertEqual(len(self.all('.stage')), 0)
        self.assertRegex(self.facts('s at this moment')['Clock proven fast'], r'^\d+ moves$')
        rows = self.texts('[aria-label="Everybody in this match"] tbody tr')
        self.assertRegex(rows[0], r'^s Clock proven fast\d')
        self.assertRegex(rows[1], r'^t\d+0 \(0 %\)')
        self.go('#/players/s', '[aria-label="Newest matches"] tbody tr')
        row = [text for text in self.texts('[aria-label="Newest matches"] tbody tr') if text.startswith('sped')][0]
        self.assertIn('Clock proven fast', row)

    def test_mistake_of_the_game_after_the_match(self):
        self.service.open_duel('mistaken', 'metres', 1)
        self.service.post_hits('mistaken', 1, 1, 110)
        self.end('mistaken')
        self.assertIn('integration of this match looks wrong', self.show_reason('mistaken', 'no_intersection'))
        self.assertGreater(len(self.texts('[aria-label="Everybody in this match"] .notice li')), 0)
        self.go('#/matches', '[aria-label="Ended matches"] tbody tr')
        self.assertTrue(any(text.startswith('mistaken') for text in self.texts('[aria-label="Ended matches"] tbody tr')))

    def test_connections_after_the_match(self):
        # Two players claim a hit_time that their latency does not explain. One has a steady
        # connection, the other an unstable one.
        frames = [{'time': 10 + i / 20, 'players': [
            {'player': 't', 'position': [5, 0, 0], 'weapon': 'rifle', 'rtt': 0.04},
            {'player': 'steady', 'position': [0, 0, 0], 'aim': [1, 0, 0], 'weapon': 'rifle', 'rtt': 0.04 + i % 3 / 500},
            {'player': 'shaky', 'position': [0, 3, 0], 'aim': [1, 0, 0], 'weapon': 'rifle', 'rtt': 0.04 + i % 4 / 25}]}
            for i in range(21)]
        self.service.send('PUT', '/v1/matches/lag', {'ruleset': 'metres'})
        self.service.send('POST', '/v1/matches/lag/frames', {'frames': frames})
        notices = {}
        for shooter, y in [('steady', 0), ('shaky', 3)]:
            hit = {'shot': 1, 'shooter': shooter, 'target': 't', 'hit_time': 10.7, 'start': [0, y, 1.6], 'end': [5, 0, 1.6]}
            result = self.service.send('POST', '/v1/matches/lag/hits', {'now': 11.05, 'hits': [hit]})['results'][0]
            notices[shooter] = result['reason']
        self.assertEqual(set(notices.values()), {'time_mismatch'})
        self.end('lag')
        for shooter, reason in notices.items():
            stored = self.until(lambda: self.fetch(f'/v1/verdicts?match=lag&player={shooter}')['verdicts'])
            self.go(f'#/verdicts/{stored[0]["verdict_id"]}', '[aria-label="Everybody in this match"]')
            self.assertIn('round trip 40 ms', self.wait('.connection').text)
            text = ' '.join(self.texts('.head .notice'))
            self.assertIn('was unstable' if shooter == 'shaky' else 'was steady', text, reason)

    def test_limits_in_charts(self):
        self.open_verdict()
        labels = [one.get_attribute('aria-label') for one in self.all('.charts canvas')]
        self.assertTrue(any('Limit: -100 ms and 30 ms' in label for label in labels), labels)

    def test_left_handed_axes(self):
        # In a left-handed game the same coordinates give the mirror image.
        self.service.open_duel('mirrored', 'unity', 1)
        self.service.send('POST', '/v1/matches/mirrored/hits', {'now': 11.05, 'hits': [
            {'shot': 1, 'shooter': 's', 'target': 't', 'hit_time': 11, 'start': [0, 1.6, 0], 'end': [5, 1.6, 1]}]})
        self.open_match_verdict('mirrored')
        button = self.browser.find_element(By.XPATH, "//button[text()='Left-handed axes']")
        self.assertEqual(button.get_attribute('aria-pressed'), 'true')
        before = self.wait('.stage').screenshot_as_base64
        button.click()
        self.until(lambda: self.all('button[aria-pressed=false].quiet'))
        self.wait('.charts figure:last-child')
        self.assertGreater(self.difference(before, self.wait('.stage').screenshot_as_base64)[0], 0.5)
        self.browser.execute_script('localStorage.clear()')

    def test_hints_have_code(self):
        self.service.open_duel('hinted', 'metres', 1)
        self.service.post_hits('hinted', 1, 1, 110)
        self.go('#/matches/hinted', '.matches table')
        self.until(lambda: self.texts('.matches li code'))
        self.assertNotIn('`', self.wait('main').text)

    def test_hints_explain_misses(self):
        """The claims of a match have a `hit_time` that is 0.3 s too late."""
        self.service.send('PUT', '/v1/matches/late', {'ruleset': 'metres'})
        place = lambda time: 3 * math.sin(1.5 * time)
        for i in range(220):
            now = 10 + i / 20
            self.service.send('POST', '/v1/matches/late/frames', {'frames': [{'time': now, 'players': [
                {'player': 'late-s', 'position': [0, 0, 0], 'weapon': 'rifle'},
                {'player': 'late-t', 'position': [5, place(now), 0]}]}]})
            if i > 10 and i % 2 == 1:
                self.service.send('POST', '/v1/matches/late/hits', {'now': now, 'hits': [
                    {'shot': i, 'shooter': 'late-s', 'target': 'late-t', 'hit_time': now - 0.05, 'start': [0, 0, 1.6],
                     'end': [5, place(now - 0.35), 1.2 + i / 1000]}]})
        number = r'of \d+ claims: most misses would hit if hit_time were -0\.[23]\d* s later'
        self.go('#/matches/late', '.matches table')
        self.until(lambda: re.search(number, self.wait('main').text))
        self.open_match_verdict('late')
        self.until(lambda: re.search('data of the game server disagree.*' + number, self.wait('main').text))
        self.service.send('DELETE', '/v1/matches/late', None)
        self.until(lambda: self.fetch('/v1/summaries?match=late')['summaries'])
        self.go('#/players/late-s', '.players .notice.bad')
        self.assertRegex(self.wait('.notice.bad').text, 'data of the game server disagree')
        self.assertRegex(self.wait('.notice.bad').text, number)

    def test_what_if(self):
        self.go('#/rulesets/metres', '.editor')
        self.browser.execute_script("""
            const editor = document.querySelector('.editor');
            const rules = JSON.parse(editor.value);
            rules.rewind.limit = 0.6;
            editor.value = JSON.stringify(rules);""")
        self.wait('.rulesets form .primary').click()
        self.wait('.rulesets .tile')
        changed = int(self.browser.find_element(By.XPATH, "//div[contains(@class, 'tile')][text()='Changed']/b").text)
        self.assertGreater(changed, 0)
        self.assertGreater(len(self.all('.rulesets table a')), 0)

    def test_bad_rules_are_explained(self):
        self.go('#/rulesets/metres', '.editor')
        self.wait('.editor').send_keys('x')
        self.wait('.rulesets form .primary').click()
        self.until(lambda: 'not JSON' in self.wait('.notice.bad').text)
        self.browser.execute_script("document.querySelector('.editor').value = '{\"hit\": {\"lean_share\": 2}}'")
        self.wait('.rulesets form .primary').click()
        self.until(lambda: '/hit/lean_share must be from 0 to 1' in self.wait('.notice.bad').text)
        self.expected_failures = 1  # the browser logs the 400

    def test_health(self):
        self.go('#/health', '.health .tiles')
        self.assertIn('ready', self.texts('.tile b'))

    # ---- access ----

    def test_token(self):
        path = os.path.join(self.folder.name, 'tokens.json')
        made = subprocess.run([PROGRAM, 'token', 'new', '--tenant', 'studio', '--scopes', 'evidence'],
                              capture_output=True, text=True, check=True)
        secret = re.search(r'hs_studio_\S+', made.stdout + made.stderr).group()
        entry = json.loads(re.search(r'\{.*\}', made.stdout, re.S).group())
        with open(path, 'w') as file:
            json.dump(entry if 'tokens' in entry else {'tokens': [entry]}, file)
        os.chmod(path, 0o600)
        closed = Running(os.path.join(self.folder.name, 'closed'), '--token-file', path)
        try:
            self.go('#/verdicts', '#token', base=closed.admin)
            self.wait('#token').send_keys('hs_studio_x_wrong', Keys.ENTER)
            self.wait('.notice.bad')
            self.wait('#token').send_keys(secret, Keys.ENTER)
            self.wait('.filters')
            self.assertTrue(self.wait('#sign-out').is_displayed())
            self.wait('#sign-out').click()
            self.wait('#token')
        finally:
            closed.stop()
        self.expected_failures = 3  # the browser logs each 401

    # ---- looks ----

    def pages(self):
        self.go('#/verdicts', '.list tbody tr')
        yield 'verdicts'
        self.open_verdict()
        yield 'verdict'
        for place in ['players', 'players/bob', 'matches', 'rulesets', 'rulesets/metres', 'health']:
            self.go(f'#/{place}', 'main > *:nth-child(2)')
            yield place

    def test_widths_and_themes(self):
        for theme, width in [('light', 1280), ('dark', 1920)]:
            self.look(theme, width, 1000)
            for page in self.pages():
                wide = self.browser.execute_script('return document.documentElement.scrollWidth')
                self.assertLessEqual(wide, width, (page, theme))

    def test_long_names_and_notes_fit(self):
        match, shooter, target = ('m' * 64, 's' * 64, 't' * 64)
        frames = [{'time': 10 + i / 20, 'players': [
            {'player': shooter, 'position': [0, 0, 0], 'aim': [1, 0, 0], 'weapon': 'rifle', 'team': 'a' * 64},
            {'player': target, 'position': [5, 0, 0], 'team': 'b' * 64}]} for i in range(21)]
        self.service.send('PUT', f'/v1/matches/{match}', {'ruleset': 'metres'})
        self.service.send('POST', f'/v1/matches/{match}/frames', {'frames': frames})
        hit = {'shot': 1, 'shooter': shooter, 'target': target, 'hit_time': 11, 'start': [0, 0, 1.6], 'end': [5, 2, 1.6]}
        self.service.send('POST', f'/v1/matches/{match}/hits', {'now': 11.05, 'hits': [hit]})
        self.open_match_verdict(match)
        verdict = self.fetch(f'/v1/verdicts?match={match}')['verdicts'][0]['verdict_id']
        self.service.send('POST', f'/v1/verdicts/{verdict}/reviews', {'label': 'lag', 'note': 'x' * 1500 + '\nsecond line'})
        for place, shown in [(f'verdicts/{verdict}', '.reviews p'), (f'players/{shooter}', '.players canvas'),
                             (f'matches/{match}', '.matches td'), ('players', '.players td'), ('matches', '.matches td')]:
            self.go(f'#/{place}', shown)
            self.assertLessEqual(self.browser.execute_script('return document.documentElement.scrollWidth'), 1280, place)
        self.service.send('DELETE', f'/v1/matches/{match}', None)

    def test_axe_finds_nothing_serious(self):
        path = os.path.join(FOLDER, 'node_modules/axe-core/axe.min.js')
        if not os.path.exists(path):
            self.skipTest('axe-core is not installed')
        with open(path) as file:
            axe = file.read()
        for theme in ['light', 'dark']:
            self.look(theme, 1280, 1000)
            for page in self.pages():
                self.browser.execute_script(axe)
                found = self.browser.execute_async_script(
                    'const done = arguments[0]; axe.run(document).then((result) => done(result.violations));')
                serious = [(one['id'], [node['html'][:150] for node in one['nodes'][:3]])
                           for one in found if one['impact'] in ('serious', 'critical')]
                self.assertEqual(serious, [], (page, theme))


if __name__ == '__main__':
    os.makedirs(FOLDER, exist_ok=True)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
